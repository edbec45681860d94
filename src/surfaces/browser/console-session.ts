import type { Request } from 'express';
import { AppError } from '../../errors.js';
import type { AuthDeps } from '../../auth/create-auth.js';
import type { Principal } from '../../auth/principal.js';
import { resolveScope } from '../../auth/resolve-scope.js';
import type { BrowserSession, BrowserSessions } from './browser-session.js';
import { whileLive } from './sign-in.js';

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

/**
 * The person who is signed in to the console, in the project of the workspace header or else in the project of the
 * sign-in.
 * @returns undefined without a sign-in, and for a request that was not sent by a page of this service, because browsers
 * attach cookies automatically
 * @throws AppError `scope_denied` like `resolveScope`
 */
export async function consolePrincipal(
  deps: AuthDeps,
  {
    req,
    browsers,
    origin,
    workspace,
  }: { req: Request; browsers: BrowserSessions; origin: string; workspace: string | undefined },
): Promise<Principal | undefined> {
  if (!isFromOwnPage(req, origin)) return undefined;
  const { person } = await whileLive(deps, browsers.read(req));
  if (!person) return undefined;
  const session = await deps.mongo.collections.sessions.findOne({ _id: person.sessionId });
  if (!session) throw new AppError('invalid_token', 'the sign-in has ended');
  return resolveScope(deps, principalOf(person), workspace ?? `ws_${session.project_id}`);
}

function isFromOwnPage(req: Request, origin: string): boolean {
  return req.get('origin') === origin || req.get('sec-fetch-site') === 'same-origin';
}
