import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { AppError, hasCode } from '../base/errors.js';
import type { FileStore } from './file-store.js';

/** Stores bytes. A location is the SHA-256 of the bytes, so storing the same bytes twice keeps one copy. */
export interface BlobStore {
  /** Stores the parts as one blob and returns its location. */
  put(...parts: Uint8Array[]): Promise<string>;
  /** @throws AppError `not_found` if nothing is stored at the location */
  get(location: string): Promise<Buffer>;
  /** Idempotent. */
  remove(location: string): Promise<void>;
}

const sliceBytes = 4 * 1024 * 1024;
const wellFormed = /^[0-9a-f]{64}$/;

/**
 * Stores bytes in files below `folder`. Writes a file under a temporary name, syncs and renames it, so that it is
 * complete or absent.
 */
export function createDiskBlobStore(folder: string): BlobStore {
  const fileOf = (location: string) => path.join(folder, location.slice(0, 2), location);
  return {
    async put(...parts) {
      const location = await locationOf(parts);
      const file = fileOf(location);
      await mkdir(path.dirname(file), { recursive: true });
      const temporaryFile = `${file}.${randomUUID()}`;
      const handle = await open(temporaryFile, 'wx', 0o600);
      try {
        // `writeFile` continues at the end of the previous part.
        for (const part of parts) await handle.writeFile(part);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporaryFile, file);
      return location;
    },
    async get(location) {
      checkForm(location);
      try {
        return await readFile(fileOf(location));
      } catch (error) {
        throw hasCode(error, 'ENOENT') ? new AppError('not_found', 'no such stored document', { cause: error }) : error;
      }
    },
    async remove(location) {
      checkForm(location);
      await rm(fileOf(location), { force: true });
    },
  };
}

/** Stores bytes as objects below `prefix`, for processes that share a bucket but no disk. */
export function createObjectBlobStore(
  objects: Pick<FileStore, 'write' | 'read' | 'remove'>,
  prefix: string,
): BlobStore {
  return {
    async put(...parts) {
      const location = await locationOf(parts);
      await objects.write(`${prefix}/${location}`, Readable.from(parts));
      return location;
    },
    async get(location) {
      checkForm(location);
      return buffer(await objects.read(`${prefix}/${location}`));
    },
    async remove(location) {
      checkForm(location);
      await objects.remove(`${prefix}/${location}`);
    },
  };
}

/** Hashes the parts. Other requests are served between the slices of a large part. */
async function locationOf(parts: readonly Uint8Array[]): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) {
    for (let at = 0; at < part.length; at += sliceBytes) {
      if (at > 0) await setImmediate();
      hash.update(part.subarray(at, at + sliceBytes));
    }
  }
  return hash.digest('hex');
}

function checkForm(location: string): void {
  if (!wellFormed.test(location)) throw new AppError('not_found', 'no such stored document');
}
