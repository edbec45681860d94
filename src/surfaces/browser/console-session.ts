import type { Request } from 'express';
import { AppError } from '../../errors.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import type { Principal } from '../../auth/principal.js';
import { projectOfWorkspace, workspaceHeader } from '../../auth/resolve-scope.js';
import { tokenOfSession } from '../../auth/sign-in.js';
import { createConsoleSessions, repeatsSecret, type BrowserSession } from './browser-session.js';

type Person = NonNullable<BrowserSession['person']>;

/** The principal of a person before a project is chosen, as for a user token. */
export function principalOf({ userId, sessionId }: Person): Principal {
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

/** All `Authorization` headers of a request, or the one made for the console's cookie. */
export type ReadAuthorization = (req: Request) => Promise<readonly string[] | undefined>;

/**
 * A page of the console calls the API with its cookie. Browsers attach cookies automatically, so the request must also
 * repeat the secret of the session, and must not come from another origin. It then is a request with a user token of
 * that person, which is made here and never leaves the process.
 * @throws AppError `invalid_token` for a cookie without that proof, or of a sign-in that has ended
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

/** Browsers name the origin of every request that another site could send. */
function isFromOwnPage(req: Request, publicOrigin: string): boolean {
  const [origin, site] = [req.get('origin'), req.get('sec-fetch-site')];
  if (site !== undefined && site !== 'same-origin') return false;
  return origin === undefined || origin === publicOrigin || origin === `${req.protocol}://${req.get('host')}`;
}
