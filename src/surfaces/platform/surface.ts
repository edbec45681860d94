import type { Request } from 'express';
import { apiKeyRefused, authenticateApiKey, looksLikeApiKey } from '../../auth/api-keys.js';
import { authenticateBearer } from '../../auth/authenticate-bearer.js';
import { createReadAuthorization } from '../browser/console-session.js';
import { isPerson, type Principal } from '../../auth/principal.js';
import { resolveScope, workspaceHeader } from '../../auth/resolve-scope.js';
import type { Deps } from '../../domain/deps.js';
import { AppError } from '../../base/errors.js';
import { parametersIn } from '../rest/define-route.js';
import type { SurfaceRules } from '../rest/mount.js';
import { checkProjectScope } from './project-scope.js';

/**
 * Returns the rules of the platform API. It accepts an API key in `x-api-key` (specification, Platform API), a user
 * token or session as a bearer token, and a console session from its own pages (contract, Conventions).
 */
export function platformSurface(deps: Deps, baseUrl: () => string): SurfaceRules {
  const { auth } = deps;
  const readAuthorization = createReadAuthorization(deps, baseUrl);

  async function authenticate(req: Request): Promise<Principal> {
    const secret = req.get('x-api-key');
    return secret === undefined ? person(req) : byKey(secret);
  }

  async function byKey(secret: string): Promise<Principal> {
    if (secret.length > 200) throw new AppError('invalid_token', apiKeyRefused);
    return authenticateApiKey(auth, secret);
  }

  async function person(req: Request): Promise<Principal> {
    const sent = await readAuthorization(req);
    if (sent === undefined)
      throw new AppError(
        'invalid_token',
        'missing credential: send an API key in x-api-key, or a user token as Authorization: Bearer',
      );
    if (looksLikeApiKey(sent[0]?.replace(/^\s*bearer\s+/i, '') ?? ''))
      throw new AppError('invalid_token', 'the platform API expects an API key in x-api-key, not as a bearer token');
    const principal = await authenticateBearer(deps, sent, baseUrl());
    if (!isPerson(principal))
      throw new AppError('access_denied', 'the platform API does not accept tokens of OAuth clients');
    return principal;
  }

  return {
    deps,
    baseUrl,
    authenticate,
    // Only the gateway's codes contain stages (contract, Conventions).
    ownCodes: { scope_denied: 'access_denied' },
    resolveScope: (principal, req) => resolveScope(deps, principal, req.get(workspaceHeader)),
    checkScope: checkProjectScope,
    queryNames: ({ path }) => ['projectID', 'projectId', ...parametersIn(path)],
  };
}
