import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import { resolveScope } from '../../auth/resolve-scope.js';
import type { Deps } from '../../domain/deps.js';
import { connectionInfoRoutes } from './connection-info.js';
import { createPipeline } from '../../governance/tools/perform-tool.js';
import { apiKeyRoutes } from './routes/api-keys.js';
import { approvalRoutes } from './routes/approvals.js';
import { auditRoutes } from './routes/audit.js';
import { authRoutes } from './routes/auth.js';
import { connectedAppRoutes } from './routes/connected-apps.js';
import { jwksRoutes } from './routes/jwks.js';
import { lifecycleRoutes } from './routes/lifecycles.js';
import { policyRoutes } from './routes/policies.js';
import { errorDocs } from './tool-errors.js';
import { createTools } from '../../domain/tools/tools.js';

export function createGateway(deps: Deps, baseUrl: () => string) {
  const { governance } = deps;
  return {
    tools: createTools(deps, errorDocs),
    pipeline: createPipeline({
      authenticate: (authorization) => authenticateBearer(deps, authorization, baseUrl()),
      resolveScope: (principal, workspace) => resolveScope(deps, principal, workspace),
      kernel: deps.kernel,
      quota: governance.quota,
      metrics: deps.metrics,
    }),
    /** Everything other than the tools: credentials, governance records, connection info. */
    routes: [
      ...connectionInfoRoutes(baseUrl, deps.config.clientInstall),
      ...authRoutes(deps, baseUrl),
      ...jwksRoutes(deps),
      ...apiKeyRoutes,
      ...lifecycleRoutes,
      ...approvalRoutes,
      ...auditRoutes,
      ...policyRoutes(governance.catalog.names),
      ...connectedAppRoutes,
    ],
  };
}
