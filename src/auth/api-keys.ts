import { z } from 'zod';
import { AppError } from '../base/errors.js';
import { newId } from '../base/ids.js';
import { sha256Hex } from '../base/hash.js';
import { defineCollection, type Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/insert-once.js';
import { epochSeconds } from '../base/time.js';
import type { Auth } from './create-auth.js';
import { type Grant, defaultGrants } from './grants.js';
import { CredentialScope, type Principal } from './principal.js';
import { secretTokens } from './secret-token.js';

export const apiKeyPrefix = 'svc_sk_';
const secrets = secretTokens(apiKeyPrefix);

export const ApiKeyScope = CredentialScope.extend({ auth_kind: z.literal('api_key') });
export type ApiKeyScope = z.infer<typeof ApiKeyScope>;

/** `_id` is the SHA-256 of the secret, by which every request looks up the key. The secret itself is never stored. */
export interface ApiKeyDocument {
  _id: string;
  id: string;
  name: string;
  scope: ApiKeyScope;
  created_at: number;
  created_by: string;
  last_used_at: number | null;
  revoked_at: number | null;
  /** The OAuth client that received the key by device authorization, and may give it back. */
  client_id?: string;
  /** From then on, the key is refused. Work that it has started goes on. A key without this time does not expire. */
  expires_at?: number;
}

interface NewApiKey {
  name: string;
  createdBy: string;
  scope: Omit<ApiKeyScope, 'grants' | 'auth_kind'> & { grants?: readonly Grant[] };
}

/** A key whose secret another party has, so that this service knows only its hash. */
export interface HeldKey {
  secretHash: string;
  clientId: string;
  /** Epoch seconds. */
  expiresAt: number;
}

export const apiKeyRefused = 'api key invalid or revoked';

export function looksLikeApiKey(credential: string): boolean {
  return credential.startsWith(apiKeyPrefix);
}

export const newApiKeySecret = secrets.create;

/**
 * Stores a key and returns its record with the secret, which cannot be read again. If the secret is already stored (a
 * retry after a crash), returns the existing record.
 */
export async function createApiKey(
  collections: Collections,
  key: NewApiKey,
  secret: string = newApiKeySecret(),
): Promise<{ record: ApiKeyDocument; secret: string }> {
  return { record: await insertOnce(collections.api_keys, recordOf(key, sha256Hex(secret))), secret };
}

/** Stores a key for the party that has its secret. If the secret is already stored, returns the existing record. */
export async function createHeldKey(
  collections: Collections,
  key: NewApiKey,
  { secretHash, clientId, expiresAt }: HeldKey,
): Promise<ApiKeyDocument> {
  const record = { ...recordOf(key, secretHash), client_id: clientId, expires_at: expiresAt };
  return insertOnce(collections.api_keys, record);
}

function recordOf({ name, createdBy, scope }: NewApiKey, secretHash: string): ApiKeyDocument {
  return {
    _id: secretHash,
    id: newId(),
    name,
    scope: { ...scope, grants: [...(scope.grants ?? defaultGrants(scope.role))], auth_kind: 'api_key' },
    created_at: epochSeconds(),
    created_by: createdBy,
    last_used_at: null,
    revoked_at: null,
  };
}

/** Whether the service accepts the key. */
export function isLiveKey({ revoked_at, expires_at = Infinity }: ApiKeyDocument): boolean {
  return revoked_at === null && expires_at > epochSeconds();
}

/**
 * Resolves a secret to its principal. Looks up the hash on every request, so a revocation takes effect immediately. No
 * comparison of secrets can leak timing.
 * @throws AppError `invalid_token`; the same error for a malformed, unknown, revoked or expired key
 */
export async function authenticateApiKey(
  { readKey, keyUse }: Pick<Auth, 'readKey' | 'keyUse'>,
  secret: string,
): Promise<Principal> {
  const record = secrets.isWellFormed(secret) ? await readKey(sha256Hex(secret)) : null;
  if (!record || !isLiveKey(record)) throw new AppError('invalid_token', apiKeyRefused);
  keyUse(record);
  const { scope } = record;
  return {
    kind: 'api_key',
    userId: scope.user_id,
    organizationId: scope.org_id,
    departmentId: scope.dept_id,
    projectId: scope.project_id,
    role: scope.role,
    grants: scope.grants,
    keyId: record.id,
    keyName: record.name,
  };
}

export const apiKeysCollection = defineCollection('api_keys', {
  indexes: [
    { keys: { id: 1 }, options: { unique: true } },
    { keys: { 'scope.project_id': 1, created_at: -1, _id: -1 } },
    { keys: { 'scope.org_id': 1, 'scope.user_id': 1 } },
  ],
  majorityRead: true,
});

declare module '../stores/collections.js' {
  interface Documents {
    api_keys: ApiKeyDocument;
  }
}
