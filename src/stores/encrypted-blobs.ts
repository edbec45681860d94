import { setImmediate } from 'node:timers/promises';
import type { BlobStore } from './blobs.js';

const header = 'encrypted:';

/** Encrypts with the keys of the service (src/auth/secret-box.ts). */
export interface Cipher {
  /** `bound` is authenticated with the bytes: they can be decrypted only with the same text. */
  encrypt(plain: Uint8Array, purpose: string, bound?: string): { keyId: string; parts: Uint8Array[] };
  decrypt(bytes: Uint8Array, keyId: string, purpose: string, bound?: string): Uint8Array;
  /** Whether `SECRETS_KEY` contains the key. */
  hasKey(keyId: string): boolean;
}

export type EncryptedBlobStore = ReturnType<typeof createEncryptedBlobStore>;

/**
 * Stores documents of runs, each encrypted with the key of its organization. A document starts with the line
 * `encrypted:<key id>:<organization id>`.
 */
export function createEncryptedBlobStore(blobs: BlobStore, cipher: Cipher) {
  return {
    /** Each document has a location of its own, because it is encrypted differently each time. Idempotent. */
    remove: (location: string): Promise<void> => blobs.remove(location),
    async put(bytes: Uint8Array, organizationId: string): Promise<string> {
      // Encrypting a large document takes about 50 ms, so let other requests run before and after it.
      await setImmediate();
      const { keyId, parts } = cipher.encrypt(bytes, purposeOf(organizationId));
      await setImmediate();
      return blobs.put(Buffer.from(`${header}${keyId}:${organizationId}\n`), ...parts);
    },
    /** @throws AppError `not_found` if no document is stored at the location */
    async get(location: string): Promise<Buffer> {
      const stored = await blobs.get(location);
      const end = stored.indexOf('\n');
      const [keyId = '', organizationId = ''] = stored.toString('utf8', header.length, end).split(':');
      return Buffer.from(cipher.decrypt(stored.subarray(end + 1), keyId, purposeOf(organizationId)));
    },
  };
}

function purposeOf(organizationId: string): string {
  return `document ${organizationId}`;
}
