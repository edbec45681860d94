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

const prefix = 'svc_sk_';
const secrets = secretTokens(prefix);

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
}

interface NewApiKey {
  name: string;
  createdBy: string;
  scope: Omit<ApiKeyScope, 'grants' | 'auth_kind'> & { grants?: readonly Grant[] };
}

export const apiKeyRefused = 'api key invalid or revoked';

export function looksLikeApiKey(credential: string): boolean {
  return credential.startsWith(prefix);
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
  const grants = key.scope.grants ?? defaultGrants(key.scope.role);
  const record: ApiKeyDocument = {
    _id: sha256Hex(secret),
    id: newId(),
    name: key.name,
    scope: { ...key.scope, grants: [...grants], auth_kind: 'api_key' },
    created_at: epochSeconds(),
    created_by: key.createdBy,
    last_used_at: null,
    revoked_at: null,
  };
  return { record: await insertOnce(collections.api_keys, record), secret };
}

/**
 * Resolves a secret to its principal. Looks up the hash on every request, so a revocation takes effect immediately. No
 * comparison of secrets can leak timing.
 * @throws AppError `invalid_token`; the same error for a malformed, an unknown and a revoked key
 */
export async function authenticateApiKey(
  { readKey, keyUse }: Pick<Auth, 'readKey' | 'keyUse'>,
  secret: string,
): Promise<Principal> {
  const record = secrets.isWellFormed(secret) ? await readKey(sha256Hex(secret)) : null;
  if (!record || record.revoked_at !== null) throw new AppError('invalid_token', apiKeyRefused);
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
