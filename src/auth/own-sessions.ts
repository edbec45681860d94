import { z } from 'zod';
import { AppError } from '../base/errors.js';
import { Id } from '../base/ids.js';
import { epochSeconds } from '../base/time.js';
import { listPage, type ListQuery, type Page } from '../stores/lists.js';
import type { Audited } from './audit-port.js';
import type { AuthDeps } from './create-auth.js';
import { actorOf, type Principal } from './principal.js';
import { accountOf } from './profile.js';
import type { SessionDocument } from './sessions.js';
import { signOut, userTokenSeconds } from './sign-in.js';

/** A sign-in of a person that has not ended. */
export const OwnSession = z
  .object({
    session_id: Id,
    kind: z
      .enum(['user', 'session'])
      .describe('`user` for the console and for user tokens, `session` for a session of a client that refreshes it.'),
    user_agent: z.string().nullable().describe('The program that signed in, as it named itself.'),
    created_at: z.number(),
    last_used_at: z.number().describe('With a precision of one minute.'),
    is_current: z.boolean().describe('Whether this request belongs to it.'),
  })
  .meta({
    id: 'OwnSession',
    example: {
      session_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
      kind: 'user',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36',
      created_at: 1763942400,
      last_used_at: 1763946000,
      is_current: true,
    },
  });
type OwnSession = z.infer<typeof OwnSession>;

/** The sessions of a person whose tokens can still be valid. A user token is not refreshed. */
function liveSessionsOf(userId: string) {
  const now = epochSeconds();
  const recently = { $gt: now - userTokenSeconds };
  return {
    user_id: userId,
    revoked_at: null,
    $or: [
      { kind: { $ne: 'user' as const }, refresh_until: { $gt: now } },
      { last_used_at: recently },
      { created_at: recently },
    ],
  };
}

/** Throws as `accountOf`. */
export async function listOwnSessions(
  deps: AuthDeps,
  principal: Principal,
  query: ListQuery,
): Promise<Page<OwnSession>> {
  const { _id } = await accountOf(deps, principal);
  const page = await listPage(deps.mongo.collections.sessions, liveSessionsOf(_id), query);
  return { ...page, data: page.data.map((session) => toOwnSession(session, principal)) };
}

/**
 * Ends one session of the caller, also the current one. Safe to repeat.
 * @throws AppError `not_found` for a session of somebody else, and as `accountOf`
 */
export async function endOwnSession(deps: AuthDeps & Audited, principal: Principal, sessionId: string): Promise<void> {
  const account = await accountOf(deps, principal);
  const session = await deps.mongo.collections.sessions.findOne({ _id: sessionId, user_id: account._id });
  if (!session) throw new AppError('not_found', 'session was not found');
  await signOut(deps, sessionId, 'ended by the person');
}

/** Ends all sessions of the caller but the current one. Throws as `accountOf`. */
export async function endOtherSessions(deps: AuthDeps & Audited, principal: Principal): Promise<void> {
  const account = await accountOf(deps, principal);
  await deps.auth.sessions.revokeAll({ userId: account._id }, 'ended by the person', principal.sessionId);
  await deps.governance.audit.append({
    organization_id: account.organization_id,
    actor: actorOf(principal),
    action: 'sign-out-others',
    resource: `user:${account._id}`,
    outcome: 'completed',
    lifecycle_id: null,
  });
}

function toOwnSession(
  { _id, kind, user_agent = null, created_at, last_used_at = created_at }: SessionDocument,
  { sessionId }: Principal,
): OwnSession {
  return { session_id: _id, kind, user_agent, created_at, last_used_at, is_current: _id === sessionId };
}
