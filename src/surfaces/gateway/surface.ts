import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import { createReadAuthorization } from '../browser/console-session.js';
import { resolveScope, workspaceHeader } from '../../auth/resolve-scope.js';
import type { Deps } from '../../domain/deps.js';
import type { SurfaceRules } from '../rest/mount.js';

/** The rules of the gateway: a bearer credential or a console session, in the project of the header. */
export function gatewaySurface(deps: Deps, baseUrl: () => string): SurfaceRules {
  const readAuthorization = createReadAuthorization(deps, baseUrl);
  return {
    deps,
    baseUrl,
    async authenticate(req) {
      const hasApiKeyHeader = req.get('x-api-key') !== undefined;
      return authenticateBearer(deps, await readAuthorization(req), baseUrl(), { hasApiKeyHeader });
    },
    resolveScope: (principal, req) => resolveScope(deps, principal, req.get(workspaceHeader)),
    checkScope: () => undefined,
  };
}
