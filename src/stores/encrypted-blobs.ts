import { setImmediate } from 'node:timers/promises';
import type { BlobStore } from './blobs.js';

const header = 'encrypted:';

/** The key store of the service (src/auth/secret-box.ts). */
export interface Cipher {
  encrypt(plain: Uint8Array, purpose: string): { keyId: string; parts: Uint8Array[] };
  decrypt(bytes: Uint8Array, keyId: string, purpose: string): Uint8Array;
}

/** Stores documents of runs, each encrypted with the key of its organization. */
export interface EncryptedBlobStore {
  put(bytes: Uint8Array, organizationId: string): Promise<string>;
  /** @throws AppError `not_found` if there is no document at the location */
  get(location: string): Promise<Buffer>;
}

/**
 * The first line is `encrypted:<key id>:<organization id>`. Documents without this line are older and not encrypted.
 */
export function createEncryptedBlobStore(blobs: BlobStore, cipher: Cipher): EncryptedBlobStore {
  return {
    async put(bytes, organizationId) {
      // Encrypting a large document takes about 50 ms, so it has a turn of the event loop for itself.
      await setImmediate();
      const { keyId, parts } = cipher.encrypt(bytes, purposeOf(organizationId));
      await setImmediate();
      return blobs.put(Buffer.from(`${header}${keyId}:${organizationId}\n`), ...parts);
    },
    async get(location) {
      const stored = await blobs.get(location);
      if (!stored.subarray(0, header.length).equals(Buffer.from(header))) return stored;
      const end = stored.indexOf('\n');
      const [keyId = '', organizationId = ''] = stored.toString('utf8', header.length, end).split(':');
      return Buffer.from(cipher.decrypt(stored.subarray(end + 1), keyId, purposeOf(organizationId)));
    },
  };
}

function purposeOf(organizationId: string): string {
  return `document ${organizationId}`;
}
