import { z } from 'zod';
import { AppError } from '../base/errors.js';
import type { Audited } from './audit-port.js';
import type { AuthDeps } from './create-auth.js';
import { defaultGrants, haveSameRoles, toStoredRoles } from './grants.js';
import { CredentialScope } from './principal.js';
import type { SessionDocument } from './sessions.js';
import { findProjectWithRoles } from './project-roles.js';
import { epochSeconds } from '../base/time.js';
import { tokenInvalid } from './tokens.js';
import { findUserByEmail, homeProject, normalizeEmail, type UserDocument } from './users.js';

export const sessionTokenSeconds = 3600;
export const userTokenSeconds = 8 * 3600;

export interface Login {
  email: string;
  password: string;
  projectId?: string | undefined;
  /** The network address of the caller, for rate limiting. */
  address: string;
  /** The program that signs in, which the person sees in the list of their sessions. */
  userAgent: string | null;
}

const TokenScope = CredentialScope.extend({
  roles: z
    .array(z.string())
    .describe('All roles on the project, the highest first.')
    .meta({ example: ['EDITOR', 'APPROVER'] }),
  auth_kind: z.enum(['user_jwt', 'session']),
}).meta({ id: 'TokenScope' });
type TokenScope = z.infer<typeof TokenScope>;

export const RefreshToken = z
  .string()
  .min(1)
  .max(8192)
  .describe('Begins with `svc_srt_`.')
  .meta({ example: 'svc_srt_Jq3v0Yx8uR2m' });

export const UserToken = z
  .object({
    access_token: z.string().meta({ example: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl' }),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ example: sessionTokenSeconds }),
    scope: TokenScope,
  })
  .meta({ id: 'UserToken' });
type UserToken = z.infer<typeof UserToken>;

export const SessionTokens = UserToken.extend({ refresh_token: RefreshToken }).meta({ id: 'SessionTokens' });
type SessionTokens = z.infer<typeof SessionTokens>;

/**
 * Issues a user token (`token_use: user`) for an email address and a password.
 * @throws AppError `invalid_token`, with the same message for every wrong pair; `too_many_requests`; `scope_denied`
 */
export async function signIn(deps: AuthDeps, login: Login): Promise<UserToken> {
  const { session, scope } = await startSession(deps, login, 'user_jwt');
  return tokenFor(deps, session, scope);
}

/** Starts an SDK session: an access token for one hour and a refresh token. Throws the same errors as `signIn`. */
export async function logIn(deps: AuthDeps, login: Login): Promise<SessionTokens> {
  const { session, scope } = await startSession(deps, login, 'session');
  const refresh_token = await deps.auth.sessions.issueRefreshToken(session);
  return { ...(await tokenFor(deps, session, scope)), refresh_token };
}

/**
 * Issues the next pair of tokens of a session, with the user's current role.
 * @throws AppError `invalid_token`; the session ends if the token was used before, and if the user has no role on the
 * project any more
 */
export async function refresh(deps: AuthDeps & Audited, refreshToken: string): Promise<SessionTokens> {
  const { auth, mongo } = deps;
  // The time of arrival: a busy server must not take a request for a late one.
  const { session, refreshToken: refresh_token } = await auth.sessions.rotate(refreshToken, epochSeconds());
  if (refresh_token === undefined) {
    await endSession(deps, session._id, 'a refresh token was used again', 'session-refresh-reuse');
    throw new AppError('invalid_token', tokenInvalid);
  }
  const user = await mongo.collections.users.findOne({ _id: session.user_id });
  const scope = user && (await scopeOf(deps, user, session.project_id, 'session'));
  if (!scope) {
    await auth.sessions.revoke(session._id, 'the user has no role on the project any more');
    throw new AppError('invalid_token', tokenInvalid);
  }
  return { ...(await tokenFor(deps, session, scope)), refresh_token };
}

/** Ends a session at the request of its person. Safe to repeat. */
export function signOut(deps: AuthDeps & Audited, sessionId: string, because: string): Promise<void> {
  return endSession(deps, sessionId, because, 'sign-out');
}

/**
 * Records the end of a session and ends it, unless it had ended before. In this order, because nobody can repeat the request
 * of an ended session.
 */
async function endSession(
  { auth, mongo: { collections }, governance }: AuthDeps & Audited,
  sessionId: string,
  because: string,
  action: string,
): Promise<void> {
  const session = await collections.sessions.findOne({ _id: sessionId, revoked_at: null });
  const user = session && (await collections.users.findOne({ _id: session.user_id }));
  if (user)
    await governance.audit.append({
      organization_id: user.organization_id,
      actor: `${session.kind === 'user' ? 'user_jwt' : 'session'}:${user._id}`,
      action,
      resource: `project:${session.project_id}`,
      outcome: 'completed',
      lifecycle_id: null,
    });
  await auth.sessions.revoke(sessionId, because);
}

/**
 * Starts a session. Reads the role and the password again: a concurrent change either finds the new session and ends it,
 * or is detected here.
 */
async function startSession(
  deps: AuthDeps,
  login: Login,
  kind: TokenScope['auth_kind'],
): Promise<{ session: SessionDocument; scope: TokenScope }> {
  const { sessions } = deps.auth;
  const { users } = deps.mongo.collections;
  const user = await authenticated(deps, login);
  const { _id, password_hash } = user;
  const projectId = login.projectId ?? (await homeProject(deps.mongo.collections, user));
  const scope = projectId === undefined ? undefined : await scopeOf(deps, user, projectId, kind);
  if (!scope) throw new AppError('scope_denied', 'this user has no role on that project');
  const { project_id } = scope;
  const session = await sessions.start({
    kind: kind === 'session' ? kind : 'user',
    user_id: _id,
    project_id,
    user_agent: login.userAgent,
  });
  const current = await scopeOf(deps, user, project_id, kind);
  if (current && haveSameRoles(current, scope) && (await users.findOne({ _id, password_hash })))
    return { session, scope };
  await sessions.revoke(session._id, 'the role or the password was changed during sign-in');
  throw new AppError('scope_denied', 'the role on that project or the password was changed by another request');
}

async function authenticated({ auth, mongo }: AuthDeps, { email, password, address }: Login): Promise<UserDocument> {
  const succeeded = await auth.throttle.admit(normalizeEmail(email), address);
  const user = await findUserByEmail(mongo.collections, email);
  const matches = await auth.passwords.verify(user?.password_hash, password);
  if (!user || !matches) throw new AppError('invalid_token', 'email or password is wrong');
  await succeeded();
  return user;
}

async function scopeOf(
  { mongo }: AuthDeps,
  user: Pick<UserDocument, '_id'>,
  projectId: string,
  kind: TokenScope['auth_kind'],
): Promise<TokenScope | undefined> {
  const found = await findProjectWithRoles(mongo.collections, user._id, projectId);
  if (!found) return undefined;
  const { project, role, roles } = found;
  return {
    org_id: project.organization_id,
    dept_id: project.department_id,
    project_id: project._id,
    user_id: user._id,
    role,
    roles: [...roles],
    grants: [...defaultGrants(role)],
    auth_kind: kind,
  };
}

/**
 * Issues a user token for one request of a signed-in person. The token is for `projectId` if the person has a role
 * there, otherwise for the project of the sign-in.
 * @throws AppError `invalid_token`
 */
export async function tokenOfSession(
  deps: AuthDeps,
  { sessionId, userId, projectId }: { sessionId: string; userId: string; projectId: string | undefined },
): Promise<string> {
  const session = await deps.mongo.collections.sessions.findOne({ _id: sessionId });
  if (!session) throw new AppError('invalid_token', 'the sign-in has ended');
  const scopeOn = (project: string) => scopeOf(deps, { _id: userId }, project, 'user_jwt');
  const scope = (projectId && (await scopeOn(projectId))) || (await scopeOn(session.project_id));
  if (!scope) throw new AppError('invalid_token', tokenInvalid);
  return (await tokenFor(deps, session, scope)).access_token;
}

async function tokenFor({ auth }: AuthDeps, session: SessionDocument, scope: TokenScope): Promise<UserToken> {
  const expiresInSeconds = session.kind === 'user' ? userTokenSeconds : sessionTokenSeconds;
  const { org_id, dept_id, project_id, roles } = scope;
  const claims = {
    sub: scope.user_id,
    ...toStoredRoles(roles),
    org_id,
    dept_id,
    project_id,
    token_use: session.kind,
    sid: session._id,
  };
  return {
    access_token: await auth.tokens.sign(claims, { expiresInSeconds }),
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    scope,
  };
}
