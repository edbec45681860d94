import type { Request } from 'express';
import { AppError } from '../../base/errors.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import type { Principal } from '../../auth/principal.js';
import { projectOfWorkspace, workspaceHeader } from '../../auth/resolve-scope.js';
import { tokenOfSession } from '../../auth/sign-in.js';
import { createConsoleSessions, repeatsSecret, type BrowserSession } from './browser-session.js';

/** Returns the principal of a person before they choose a project. It equals the principal of a user token. */
export function principalOf({ userId, sessionId }: NonNullable<BrowserSession['person']>): Principal {
  return {
    kind: 'user_jwt',
    userId,
    sessionId,
    organizationId: '',
    departmentId: '',
    projectId: '',
    role: '',
    grants: [],
  };
}

export const csrfHeader = 'X-CSRF-Token';

/** Returns all `Authorization` headers of a request, or the header made from the console's cookie. */
type ReadAuthorization = (req: Request) => Promise<readonly string[] | undefined>;

/**
 * Lets console pages call the API with their cookie. Browsers attach cookies automatically, so the request must also
 * send the session's CSRF secret and must not come from another origin. The request then gets a user token of the
 * person, which is created here and never leaves the process.
 * @throws AppError `invalid_token` if the proof is missing or the session has ended
 */
export function createReadAuthorization(deps: AuthDeps, baseUrl: () => string): ReadAuthorization {
  const browsers = createConsoleSessions(deps.auth.box, baseUrl);
  return async (req) => {
    const authorization = req.headersDistinct.authorization;
    if (authorization !== undefined) return authorization;
    const session = browsers.read(req);
    if (!session.person) return undefined;
    if (!isFromOwnPage(req, new URL(baseUrl()).origin) || !repeatsSecret(session, req.get(csrfHeader)))
      throw new AppError(
        'invalid_token',
        `the cookie of the console is accepted only from its own pages, with the ${csrfHeader} of GET /console/session`,
      );
    const { sessionId, userId } = session.person;
    const projectId = projectOfWorkspace(req.get(workspaceHeader));
    return [`Bearer ${await tokenOfSession(deps, { sessionId, userId, projectId })}`];
  };
}

/** Browsers name the origin of every request that another site can cause. */
function isFromOwnPage(req: Request, publicOrigin: string): boolean {
  const [origin, site] = [req.get('origin'), req.get('sec-fetch-site')];
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined || origin === publicOrigin || origin === `${req.protocol}://${req.get('host')}`;
}
