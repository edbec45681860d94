import { createHmac, hash, randomBytes } from 'node:crypto';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import type { Logger } from '../log.js';
import type { Collections } from '../stores/collections.js';
import { createFreshReads } from '../stores/fresh-reads.js';
import { insertOnce } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { filterOf, type CredentialsOf } from './end-credentials.js';
import type { SecretBox } from './secret-box.js';
import { tokenInvalid } from './tokens.js';

const prefix = 'svc_srt_';
const wellFormed = /^svc_srt_[A-Za-z0-9_-]{43}$/;
const refreshSeconds = 30 * 24 * 3600;
/** A client that lost the reply asks again within this time and gets the same child (design, Credentials). */
const graceSeconds = 10;
/** Past the last use: kept until no token of the session can be presented any more. */
const keptSeconds = 24 * 3600;

/** A family of tokens: all that one sign-in led to. Ending it ends them all, access tokens included. */
export interface SessionDocument {
  _id: string;
  kind: 'user' | 'session';
  user_id: string;
  project_id: string;
  created_at: number;
  /** Refresh tokens hold until then, and no rotation moves it. */
  refresh_until: number;
  revoked_at: number | null;
  revoked_because: string | null;
  /** Sealed. A refresh token's child is its HMAC under this key, so that all repeats of one rotation agree. */
  rotation_key: string;
  expires_at: Date;
}

/** `_id` is the SHA-256 of the token. A token is rotated when the document of its child is there. */
export interface RefreshTokenDocument {
  _id: string;
  session_id: string;
  created_at: number;
  expires_at: Date;
}

export interface Sessions {
  start(of: Pick<SessionDocument, 'kind' | 'user_id' | 'project_id'>): Promise<SessionDocument>;
  /** The first refresh token of a session that was just started. */
  issueRefreshToken(session: SessionDocument): Promise<string>;
  /**
   * Exchanges a refresh token for its child; the same child for a repeat within ten seconds.
   * @throws AppError `invalid_token`; for a repeat after that the whole family has ended
   */
  rotate(refreshToken: string): Promise<{ session: SessionDocument; refreshToken: string }>;
  isLive(sessionId: string): Promise<boolean>;
  /** The session of a refresh token, whatever its state. */
  sessionOf(refreshToken: string): Promise<string | undefined>;
  revoke(sessionId: string, because: string): Promise<void>;
  /** For a member who is taken off a project, or a changed password. */
  revokeAll(of: CredentialsOf, because: string): Promise<void>;
}

export function createSessions(deps: { collections: Collections; box: SecretBox; log: Logger }): Sessions {
  const { collections, box, log } = deps;
  const { sessions, refresh_tokens: refreshTokens } = collections;
  const read = createFreshReads(sessions);

  async function revoke(_id: string, because: string): Promise<void> {
    await sessions.updateOne({ _id }, { $set: { revoked_at: epochSeconds(), revoked_because: because } });
  }

  async function store(token: string, session: SessionDocument): Promise<RefreshTokenDocument> {
    const { _id: session_id, expires_at } = session;
    return insertOnce(refreshTokens, { _id: hash('sha256', token), session_id, created_at: epochSeconds(), expires_at });
  }

  async function familyOf(token: string): Promise<RefreshTokenDocument | null> {
    return wellFormed.test(token) ? refreshTokens.findOne({ _id: hash('sha256', token) }) : null;
  }

  return {
    async start(of) {
      const session = newSession(of, box);
      await sessions.insertOne(session);
      return session;
    },
    async issueRefreshToken(session) {
      const token = prefix + randomBytes(32).toString('base64url');
      await store(token, session);
      return token;
    },
    async rotate(parent) {
      const known = await familyOf(parent);
      const session = known && (await sessions.findOne({ _id: known.session_id }));
      if (!session || session.revoked_at !== null || session.refresh_until <= epochSeconds()) throw refused();
      const child = childOf(parent, box.open(session.rotation_key, session._id));
      // Of repeats at once, in any process, one inserts; its time decides for all of them.
      const { created_at: rotatedAt } = await store(child, session);
      if (epochSeconds() - rotatedAt > graceSeconds) {
        await revoke(session._id, 'a refresh token was used again');
        log.warn({ session: session._id, user: session.user_id }, 'a refresh token was used again; its session has ended');
        throw refused();
      }
      return { session, refreshToken: child };
    },
    async isLive(sessionId) {
      return (await read(sessionId))?.revoked_at === null;
    },
    async sessionOf(token) {
      return (await familyOf(token))?.session_id;
    },
    revoke,
    async revokeAll(of, because) {
      await sessions.updateMany({ ...filterOf(of), revoked_at: null }, { $set: { revoked_at: epochSeconds(), revoked_because: because } });
    },
  };
}

function newSession(of: Pick<SessionDocument, 'kind' | 'user_id' | 'project_id'>, box: SecretBox): SessionDocument {
  const _id = newId();
  const now = epochSeconds();
  return {
    _id,
    ...of,
    created_at: now,
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
