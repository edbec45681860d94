import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AppError, hasCode } from '../errors.js';

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
      const location = locationOf(bytes);
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
      checkForm(location);
      try {
        return await readFile(fileOf(location));
      } catch (error) {
        throw hasCode(error, 'ENOENT') ? new AppError('not_found', 'no such stored document', { cause: error }) : error;
      }
    },
  };
}

/** What a store of objects must do to hold blobs; an object is complete or absent. */
export interface ObjectStore {
  write(name: string, source: Readable): Promise<void>;
  /** @throws AppError `not_found` for a name that holds nothing */
  read(name: string): Promise<Readable>;
}

/** Bytes as objects below `prefix`, for processes that share a bucket and no disk. */
export function createObjectBlobStore(objects: ObjectStore, prefix: string): BlobStore {
  return {
    async put(bytes) {
      const location = locationOf(bytes);
      await objects.write(`${prefix}/${location}`, Readable.from([bytes]));
      return location;
    },
    async get(location) {
      checkForm(location);
      return buffer(await objects.read(`${prefix}/${location}`));
    },
  };
}

function locationOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function checkForm(location: string): void {
  if (!wellFormed.test(location)) throw new AppError('not_found', 'no such stored document');
}
