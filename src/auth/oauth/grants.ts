import { randomBytes, timingSafeEqual } from 'node:crypto';
import { filterOf, type CredentialsOf } from '../end-credentials.js';
import { createLastUse } from '../last-use.js';
import type { SecretBox } from '../secret-box.js';
import type { Logger } from '../../log.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { createFreshReads } from '../../stores/fresh-reads.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import type { Scope } from './scopes.js';
import { readRefreshToken, writeRefreshToken, type RefreshTokenParts } from './refresh-token.js';

const day = 24 * 3600;
/** A grant ends if it is not refreshed for `idleSeconds` (RFC 9700, 4.14.2), and at the latest after a year. */
const idleSeconds = 30 * day;
const maxSeconds = 365 * day;
/** A client that lost the response can retry within this time. It gets the same child token. */
const graceSeconds = 10;
/** The number of rotations whose time is stored. Using an older refresh token always counts as reuse. */
const rememberedRotations = 20;

/** A person's consent for one client and one project. Ending the grant ends all of its tokens. */
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
  /** Has a precision of one minute. Null before the first call. */
  last_used_at: number | null;
  /** The sealed key from which refresh tokens are derived. The tokens themselves are not stored. */
  rotation_key: string;
  /** The number of the newest refresh token. */
  generation: number;
  /** The times of the first rotation of each of the last generations. */
  rotated_at: Record<string, number>;
  expires_at: Date;
}

export type NewGrant = Pick<OauthGrantDocument, '_id' | 'client_id' | 'user_id' | 'project_id' | 'scopes' | 'resource'>;

export type Grants = ReturnType<typeof createGrants>;

export function createGrants({ collections, box, log }: { collections: Collections; box: SecretBox; log: Logger }) {
  const { oauth_grants: grants } = collections;
  const read = createFreshReads(grants);
  const used = createLastUse(grants, log);

  /** @returns the grant, or undefined if it had ended before */
  async function revoke(_id: string, because: string): Promise<OauthGrantDocument | undefined> {
    const ended = { $set: { revoked_at: epochSeconds(), revoked_because: because } };
    return (await grants.findOneAndUpdate({ _id, revoked_at: null }, ended)) ?? undefined;
  }

  const keyOf = (grant: OauthGrantDocument) => box.open(grant.rotation_key, grant._id);

  return {
    /**
     * Creates the grant of an authorization code and returns its first refresh token.
     * @returns undefined if the grant already exists, because the code was used before
     */
    async open(grant: NewGrant): Promise<string | undefined> {
      const opened = newGrant(grant, box);
      try {
        await grants.insertOne(opened);
      } catch (error) {
        if (isDuplicateKey(error)) return undefined;
        throw error;
      }
      return writeRefreshToken({ grantId: opened._id, generation: 0 }, keyOf(opened));
    },
    /** Returns the grant of an authentic, usable refresh token. The caller checks the client. */
    async find(refreshToken: string): Promise<{ grant: OauthGrantDocument; presented: RefreshTokenParts } | undefined> {
      const presented = readRefreshToken(refreshToken);
      const grant = presented && (await grants.findOne({ _id: presented.grantId }));
      if (!grant || !isGenuine(refreshToken, presented, keyOf(grant))) return undefined;
      return isUsable(grant) ? { grant, presented } : undefined;
    },
    /**
     * Exchanges a refresh token, presented at `now`, for its child. A repeat within ten seconds returns the same child.
     * @returns no token for a later repeat, which ends the grant (`ended`), and for a grant that had ended before
     */
    async rotate(
      { _id, client_id, user_id, ...grant }: OauthGrantDocument,
      { generation }: RefreshTokenParts,
      now: number,
    ): Promise<{ refreshToken?: string; ended?: OauthGrantDocument | undefined }> {
      // One atomic update by `_id`: if several processes rotate at once, the earliest time counts for all of them.
      const after = await grants.findOneAndUpdate(
        { _id },
        {
          $max: {
            generation: generation + 1,
            refresh_until: Math.min(now + idleSeconds, grant.created_at + maxSeconds),
          },
          $min: { [`rotated_at.${nameOf(generation)}`]: now },
          $unset: { [`rotated_at.${nameOf(generation - rememberedRotations)}`]: '' },
        },
        { returnDocument: 'after' },
      );
      if (!after || after.revoked_at !== null) return {};
      const isForgotten = after.generation - generation > rememberedRotations;
      if (isForgotten || now - (after.rotated_at[nameOf(generation)] ?? 0) > graceSeconds) {
        log.warn(
          { grant: _id, client: client_id, user: user_id },
          'a refresh token was used again; its grant has ended',
        );
        return { ended: await revoke(_id, 'a refresh token was used again') };
      }
      return { refreshToken: writeRefreshToken({ grantId: _id, generation: generation + 1 }, keyOf(after)) };
    },
    /**
     * Reads the grant on every call, so that a revocation takes effect immediately in every process. Counts as a use of
     * the grant.
     */
    async isLive(grantId: string): Promise<boolean> {
      const grant = await read(grantId);
      if (grant?.revoked_at !== null) return false;
      used(grant);
      return true;
    },
    revoke,
    /** Ends the grants of a member who was removed from a project, or of a closed account. */
    async revokeAll(of: CredentialsOf, because: string): Promise<void> {
      await grants.updateMany(
        { ...filterOf(of), revoked_at: null },
        { $set: { revoked_at: epochSeconds(), revoked_because: because } },
      );
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
    last_used_at: null,
    rotation_key: box.seal(randomBytes(32).toString('base64url'), grant._id),
    generation: 0,
    rotated_at: {},
    expires_at: new Date((now + maxSeconds + day) * 1000),
  };
}

function isUsable(grant: OauthGrantDocument): boolean {
  return grant.revoked_at === null && grant.refresh_until > epochSeconds();
}

function isGenuine(refreshToken: string, parts: RefreshTokenParts, key: string): boolean {
  // `timingSafeEqual` requires equal lengths. Well-formed tokens have the same length.
  return timingSafeEqual(Buffer.from(refreshToken), Buffer.from(writeRefreshToken(parts, key)));
}

function nameOf(generation: number): string {
  return `g${generation}`;
}

export const oauthGrantsCollection = defineCollection('oauth_grants', {
  indexes: [{ keys: { user_id: 1, _id: -1 } }, { keys: { project_id: 1, _id: -1 } }, expiring],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    oauth_grants: OauthGrantDocument;
  }
}
