import { createHmac, randomBytes } from 'node:crypto';
import { AppError } from '../base/errors.js';
import { newId } from '../base/ids.js';
import { sha256Hex } from '../base/hash.js';
import type { Logger } from '../log.js';
import { defineCollection, expiring, type Collections } from '../stores/collections.js';
import { createFreshReads } from '../stores/fresh-reads.js';
import { insertOnce } from '../stores/insert-once.js';
import { epochSeconds } from '../base/time.js';
import { filterOf, type CredentialsOf } from './end-credentials.js';
import { createLastUse } from './last-use.js';
import type { SecretBox } from './secret-box.js';
import { secretTokens } from './secret-token.js';
import { tokenInvalid } from './tokens.js';

const prefix = 'svc_srt_';
const tokens = secretTokens(prefix);
const refreshSeconds = 30 * 24 * 3600;
/** A client that lost the response can retry within this time. It gets the same child token. */
const graceSeconds = 10;
/** How long a session that can no longer be refreshed is kept, until all of its tokens have expired. */
const keptSeconds = 24 * 3600;

/**
 * A session owns all tokens that result from one sign-in. Ending the session ends all of them, including access tokens.
 */
export interface SessionDocument {
  _id: string;
  kind: 'user' | 'session';
  user_id: string;
  project_id: string;
  /** The `User-Agent` of the sign-in. Sessions of earlier releases have none. */
  user_agent?: string | null;
  created_at: number;
  /** With a precision of one minute. Sessions of earlier releases have none until their next use. */
  last_used_at?: number;
  /** The time when all refresh tokens expire. A rotation does not extend it. */
  refresh_until: number;
  revoked_at: number | null;
  revoked_because: string | null;
  /**
   * A sealed key. A refresh token's child is its HMAC under this key, so retries of a rotation return the same child.
   */
  rotation_key: string;
  expires_at: Date;
}

/** `_id` is the SHA-256 of the token. A token has been rotated if the record of its child exists. */
interface RefreshTokenDocument {
  _id: string;
  session_id: string;
  created_at: number;
  expires_at: Date;
}

type NewSession = Pick<SessionDocument, 'kind' | 'user_id' | 'project_id' | 'user_agent'>;
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ collections, box, log }: { collections: Collections; box: SecretBox; log: Logger }) {
  const { sessions, refresh_tokens: refreshTokens } = collections;
  const read = createFreshReads(sessions);
  const noteUse = createLastUse(sessions, log);

  async function store(token: string, session: SessionDocument, created_at: number): Promise<RefreshTokenDocument> {
    const { _id: session_id, expires_at } = session;
    return insertOnce(refreshTokens, { _id: sha256Hex(token), session_id, created_at, expires_at });
  }

  async function familyOf(token: string): Promise<RefreshTokenDocument | null> {
    return tokens.isWellFormed(token) ? refreshTokens.findOne({ _id: sha256Hex(token) }) : null;
  }

  return {
    async start(of: NewSession): Promise<SessionDocument> {
      const session = newSession(of, box);
      await sessions.insertOne(session);
      return session;
    },
    /** Returns the first refresh token of a new session. */
    async issueRefreshToken(session: SessionDocument): Promise<string> {
      const token = tokens.create();
      await store(token, session, epochSeconds());
      return token;
    },
    /**
     * Exchanges a refresh token, presented at `now`, for its child. A repeat within ten seconds returns the same child.
     * @returns no token for a later repeat, after which the caller ends the session
     * @throws AppError `invalid_token` for an unknown token and for a session that had ended before
     */
    async rotate(parent: string, now: number): Promise<{ session: SessionDocument; refreshToken?: string }> {
      const known = await familyOf(parent);
      const session = known && (await sessions.findOne({ _id: known.session_id }));
      if (!session || session.revoked_at !== null || session.refresh_until <= now) throw refused();
      const child = childOf(parent, box.open(session.rotation_key, session._id));
      // If several processes rotate at once, one inserts the child, and its time counts for all of them.
      const { created_at: rotatedAt } = await store(child, session, now);
      if (now - rotatedAt > graceSeconds) {
        log.warn({ session: session._id, user: session.user_id }, 'a refresh token was used again; its session ends');
        return { session };
      }
      return { session, refreshToken: child };
    },
    /** Whether a session has not ended. Notes that it was used. */
    async isLive(sessionId: string): Promise<boolean> {
      const session = await read(sessionId);
      if (session?.revoked_at !== null) return false;
      noteUse(session);
      return true;
    },
    /** Returns the session of a refresh token, in any state. */
    async sessionOf(token: string): Promise<string | undefined> {
      return (await familyOf(token))?.session_id;
    },
    /** Ends a session. Keeps the time and the reason of one that had ended before. */
    async revoke(_id: string, because: string): Promise<void> {
      await sessions.updateOne(
        { _id, revoked_at: null },
        { $set: { revoked_at: epochSeconds(), revoked_because: because } },
      );
    },
    /**
     * Ends the sessions of a member who was removed from a project, or of a user who changed the password or ends the others.
     * @param except the session that stays
     */
    async revokeAll(of: CredentialsOf, because: string, except?: string): Promise<void> {
      const others = except === undefined ? {} : { _id: { $ne: except } };
      await sessions.updateMany(
        { ...filterOf(of), ...others, revoked_at: null },
        { $set: { revoked_at: epochSeconds(), revoked_because: because } },
      );
    },
  };
}

function newSession(of: NewSession, box: SecretBox): SessionDocument {
  const _id = newId();
  const now = epochSeconds();
  return {
    _id,
    ...of,
    created_at: now,
    last_used_at: now,
    refresh_until: now + refreshSeconds,
    revoked_at: null,
    revoked_because: null,
    rotation_key: box.seal(randomBytes(32).toString('base64url'), _id),
    expires_at: new Date((now + refreshSeconds + keptSeconds) * 1000),
  };
}

function childOf(parent: string, key: string): string {
  return prefix + createHmac('sha256', key).update(parent).digest('base64url');
}

function refused(): AppError {
  return new AppError('invalid_token', tokenInvalid);
}

export const sessionsCollection = defineCollection('sessions', {
  indexes: [{ keys: { user_id: 1, _id: -1 } }, { keys: { project_id: 1 } }, expiring],
  majorityRead: true,
});
export const refreshTokensCollection = defineCollection('refresh_tokens', { indexes: [expiring], majorityRead: true });

declare module '../stores/collections.js' {
  interface Documents {
    sessions: SessionDocument;
    refresh_tokens: RefreshTokenDocument;
  }
}
