import { randomBytes, timingSafeEqual } from 'node:crypto';
import { filterOf, type CredentialsOf } from '../../auth/end-credentials.js';
import type { SecretBox } from '../../auth/secret-box.js';
import type { Logger } from '../../log.js';
import type { Collections } from '../../stores/collections.js';
import { createFreshReads } from '../../stores/fresh-reads.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { epochSeconds } from '../../time.js';
import type { Scope } from '../scopes.js';
import { readRefreshToken, writeRefreshToken, type RefreshTokenParts } from './refresh-token.js';

const day = 24 * 3600;
/** A grant that is not refreshed for this long has ended (RFC 9700, 4.14.2), and so has any after a year. */
const idleSeconds = 30 * day;
const longestSeconds = 365 * day;
/** A client that lost the reply asks again within this time and gets the same child (design, Credentials). */
const graceSeconds = 10;
/** Rotations whose time is remembered; a refresh token older than that many is a reuse at any time. */
const rememberedRotations = 20;

/** What a person consented to, for one client on one project. Ending it ends every token that came of it. */
export interface OauthGrantDocument {
  _id: string;
  client_id: string;
  user_id: string;
  project_id: string;
  scopes: Scope[];
  resource: string;
  created_at: number;
  refresh_until: number;
  revoked_at: number | null;
  revoked_because: string | null;
  /** Sealed; refresh tokens are made with it and are not stored themselves. */
  rotation_key: string;
  /** The newest refresh token's number. */
  generation: number;
  /** When each of the last generations was first rotated. */
  rotated_at: Record<string, number>;
  expires_at: Date;
}

export type NewGrant = Pick<OauthGrantDocument, '_id' | 'client_id' | 'user_id' | 'project_id' | 'scopes' | 'resource'>;

export interface Grants {
  /**
   * Opens a grant under an id that its code chose, and gives its first refresh token.
   * @returns undefined when the grant is there already: the code was used before
   */
  open(grant: NewGrant): Promise<string | undefined>;
  /** The grant of a genuine refresh token that may still be used; which client it is for, the caller checks. */
  find(refreshToken: string): Promise<{ grant: OauthGrantDocument; presented: RefreshTokenParts } | undefined>;
  /**
   * Exchanges a refresh token, presented at `now`, for its child; the same child for a repeat within ten seconds.
   * @returns undefined for a repeat after that, which has ended the grant, and for a grant that has ended
   */
  rotate(grant: OauthGrantDocument, presented: RefreshTokenParts, now: number): Promise<string | undefined>;
  /** Read anew for every question, so that a revocation holds at once in every process. */
  isLive(grantId: string): Promise<boolean>;
  revoke(grantId: string, because: string): Promise<void>;
  /** For a member who is taken off a project, or an account that is closed. */
  revokeAll(of: CredentialsOf, because: string): Promise<void>;
}

export function createGrants({ collections, box, log }: { collections: Collections; box: SecretBox; log: Logger }): Grants {
  const { oauth_grants: grants } = collections;
  const read = createFreshReads(grants);

  async function revoke(_id: string, because: string): Promise<void> {
    await grants.updateOne({ _id }, { $set: { revoked_at: epochSeconds(), revoked_because: because } });
  }

  const keyOf = (grant: OauthGrantDocument) => box.open(grant.rotation_key, grant._id);

  return {
    async open(grant) {
      const opened = newGrant(grant, box);
      try {
        await grants.insertOne(opened);
      } catch (error) {
        if (isDuplicateKey(error)) return undefined;
        throw error;
      }
      return writeRefreshToken({ grantId: opened._id, generation: 0 }, keyOf(opened));
    },
    async find(refreshToken) {
      const presented = readRefreshToken(refreshToken);
      const grant = presented && (await grants.findOne({ _id: presented.grantId }));
      if (!grant || !isGenuine(refreshToken, presented, keyOf(grant))) return undefined;
      return isUsable(grant) ? { grant, presented } : undefined;
    },
    async rotate({ _id, client_id, user_id, ...grant }, { generation }, now) {
      // One atomic update by `_id`: of repeats at once, in any process, the first one's time decides for all.
      const after = await grants.findOneAndUpdate(
        { _id },
        {
          $max: { generation: generation + 1, refresh_until: Math.min(now + idleSeconds, grant.created_at + longestSeconds) },
          $min: { [`rotated_at.${nameOf(generation)}`]: now },
          $unset: { [`rotated_at.${nameOf(generation - rememberedRotations)}`]: '' },
        },
        { returnDocument: 'after' },
      );
      if (!after || after.revoked_at !== null) return undefined;
      const isForgotten = after.generation - generation > rememberedRotations;
      if (isForgotten || now - (after.rotated_at[nameOf(generation)] ?? 0) > graceSeconds) {
        await revoke(_id, 'a refresh token was used again');
        log.warn({ grant: _id, client: client_id, user: user_id }, 'a refresh token was used again; its grant has ended');
        return undefined;
      }
      return writeRefreshToken({ grantId: _id, generation: generation + 1 }, keyOf(after));
    },
    isLive: async (grantId) => (await read(grantId))?.revoked_at === null,
    revoke,
    async revokeAll(of, because) {
      await grants.updateMany({ ...filterOf(of), revoked_at: null }, { $set: { revoked_at: epochSeconds(), revoked_because: because } });
    },
  };
}

function newGrant(grant: NewGrant, box: SecretBox): OauthGrantDocument {
  const now = epochSeconds();
  return {
    ...grant,
    created_at: now,
    refresh_until: now + idleSeconds,
    revoked_at: null,
    revoked_because: null,
    rotation_key: box.seal(randomBytes(32).toString('base64url'), grant._id),
    generation: 0,
    rotated_at: {},
    expires_at: new Date((now + longestSeconds + day) * 1000),
  };
}

function isUsable(grant: OauthGrantDocument): boolean {
  return grant.revoked_at === null && grant.refresh_until > epochSeconds();
}

function isGenuine(refreshToken: string, parts: RefreshTokenParts, key: string): boolean {
  // Both have the one length that is well formed.
  return timingSafeEqual(Buffer.from(refreshToken), Buffer.from(writeRefreshToken(parts, key)));
}

function nameOf(generation: number): string {
  return `g${generation}`;
}
