import type { Request, RequestHandler } from 'express';
import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import { createReadAuthorization } from '../browser/console-session.js';
import { resolveScope, workspaceHeader } from '../../auth/resolve-scope.js';
import type { Deps } from '../../domain/deps.js';
import type { SurfaceRules } from '../rest/mount.js';

/** The rules of the routes other than tools: a bearer credential or a console session, in the project of the header. */
export function gatewaySurface(deps: Deps, baseUrl: () => string): SurfaceRules {
  const readAuthorization = createReadAuthorization(deps, baseUrl);
  return {
    deps,
    baseUrl,
    async authenticate(req) {
      const principal = await authenticateBearer(deps, await readAuthorization(req), baseUrl(), sentHeaders(req));
      return resolveScope(deps, principal, req.get(workspaceHeader));
    },
    limit: (principal) => deps.requestLimit.admit(principal),
    checkScope: () => undefined,
  };
}

const sentHeaders = (req: Request) => ({ hasApiKeyHeader: req.get('x-api-key') !== undefined });

const smallBody = 16 * 1024;

/**
 * Checks the credential of a tool call with a large body before the body is read. S1 checks every credential itself, so
 * small bodies need no extra check.
 */
export function checkBeforeBody(deps: Deps, baseUrl: () => string): RequestHandler {
  const readAuthorization = createReadAuthorization(deps, baseUrl);
  return async (req, res, next) => {
    const length = req.get('transfer-encoding') === undefined ? Number(req.get('content-length') ?? 0) : Infinity;
    const authorization = await readAuthorization(req);
    if (length > smallBody || authorization === undefined)
      await authenticateBearer(deps, authorization, baseUrl(), sentHeaders(req));
    res.locals.authorization = authorization;
    next();
  };
}
