import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '../errors.js';

/** The port to stored bytes; a location is the SHA-256 of the bytes, so storing twice is storing once. */
export interface BlobStore {
  put(bytes: Uint8Array): Promise<string>;
  /** @throws AppError `not_found` for a location that holds nothing */
  get(location: string): Promise<Buffer>;
}

const wellFormed = /^[0-9a-f]{64}$/;

/** Bytes in files below `folder`, complete or absent: written aside, synced and renamed. */
export function createDiskBlobStore(folder: string): BlobStore {
  const fileOf = (location: string) => path.join(folder, location.slice(0, 2), location);
  return {
    async put(bytes) {
      const location = createHash('sha256').update(bytes).digest('hex');
      const file = fileOf(location);
      await mkdir(path.dirname(file), { recursive: true });
      const aside = `${file}.${randomUUID()}`;
      const handle = await open(aside, 'wx', 0o600);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(aside, file);
      return location;
    },
    async get(location) {
      if (!wellFormed.test(location)) throw new AppError('not_found', 'no such stored document');
      try {
        return await readFile(fileOf(location));
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
          throw new AppError('not_found', 'no such stored document', { cause: error });
        }
        throw error;
      }
    },
  };
}
