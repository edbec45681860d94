import type { Deps } from '../../domain/deps.js';
import type { Route } from '../rest/define-route.js';
import { connectionInfoRoutes } from './connection-info.js';
import { apiKeyRoutes } from './routes/api-keys.js';
import { approvalRoutes } from './routes/approvals.js';
import { auditRoutes } from './routes/audit.js';
import { authRoutes } from './routes/auth.js';
import { connectedAppRoutes } from './routes/connected-apps.js';
import { jwksRoutes } from './routes/jwks.js';
import { lifecycleRoutes } from './routes/lifecycles.js';
import { policyRoutes } from './routes/policies.js';
import { toolRoutes } from './routes/tools.js';

/** The tools, and everything else of the gateway: credentials, governance records, connection info. */
export function gatewayRoutes(deps: Deps, baseUrl: () => string): readonly Route[] {
  return [
    ...toolRoutes,
    ...connectionInfoRoutes(baseUrl, deps.config.clientInstall),
    ...authRoutes(deps, baseUrl),
    ...jwksRoutes(deps),
    ...apiKeyRoutes,
    ...lifecycleRoutes,
    ...approvalRoutes,
    ...auditRoutes,
    ...policyRoutes(deps.governance.catalog.names),
    ...connectedAppRoutes,
  ];
}
