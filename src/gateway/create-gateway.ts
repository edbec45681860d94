import { authenticateBearer } from '../auth/authenticate-bearer.js';
import { resolveScope } from '../auth/resolve-scope.js';
import type { Deps } from '../deps.js';
import { createProjectModeReader } from '../graph/project-mode.js';
import type { Route } from '../http/define-route.js';
import { createStageObserver } from '../observability/stages.js';
import { connectionInfoRoutes } from './connection-info.js';
import { createPipeline, type Pipeline } from './pipeline.js';
import type { PlatformPorts } from './ports.js';
import { apiKeyRoutes } from './routes/api-keys.js';
import { approvalRoutes } from './routes/approvals.js';
import { auditRoutes } from './routes/audit.js';
import { authRoutes } from './routes/auth.js';
import { jwksRoutes } from './routes/jwks.js';
import { lifecycleRoutes } from './routes/lifecycles.js';
import { policyRoutes } from './routes/policies.js';
import { createTools } from './tools.js';
import type { Tool } from './tool.js';

export interface Gateway {
  tools: readonly Tool[];
  pipeline: Pipeline;
  ports: PlatformPorts;
  /** Beside the tools: credentials, governance records, connection info. */
  routes: readonly Route[];
}

/** The context gateway, made of the product's dependencies and the operations that it shares with the platform. */
export function createGateway(deps: Deps, ports: PlatformPorts, baseUrl: () => string): Gateway {
  const { governance } = deps;
  return {
    tools: createTools(deps, ports),
    ports,
    pipeline: createPipeline({
      authenticate: (authorization) => authenticateBearer(deps, authorization, baseUrl()),
      resolveScope: (principal, workspace) => resolveScope(deps, principal, workspace),
      projectMode: createProjectModeReader(deps.mongo.collections),
      observeStage: createStageObserver(deps),
      metrics: deps.metrics,
      ...governance,
    }),
    routes: [
      ...connectionInfoRoutes(baseUrl),
      ...authRoutes(deps, baseUrl),
      ...jwksRoutes(deps),
      ...apiKeyRoutes(deps),
      ...lifecycleRoutes(deps),
      ...approvalRoutes(governance),
      ...auditRoutes(governance),
      ...policyRoutes(governance),
    ],
  };
}
