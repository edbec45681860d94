import type { Readable } from 'node:stream';
import { AppError } from '../base/errors.js';

/** Stores objects, which are either complete or absent. `objectName` builds their locations. */
export interface FileStore {
  /** Streams `source` into the object with constant memory. Leaves nothing behind after a failure. */
  write(location: string, source: Readable): Promise<void>;
  /** @throws AppError `not_found` if the object does not exist */
  read(location: string): Promise<Readable>;
  /** Deletes the object, including a partial write of a crashed process. Idempotent. */
  remove(location: string): Promise<void>;
  /** Returns the path of the object on a local disk, or undefined if the store serves downloads itself. */
  localPath(location: string): string | undefined;
  /** Returns a URL of the store for this object, which expires, or undefined if the store does not serve downloads. */
  presign(location: string, download: Download): Promise<string | undefined>;
  close(): Promise<void>;
}

interface Download {
  disposition: string;
  type: string;
  expiresInSeconds: number;
}

const part = /^[A-Za-z0-9_-]{1,128}$/;
const form = /^[A-Za-z0-9_-]{1,128}\/[A-Za-z0-9_.-]{1,160}$/;

/**
 * Builds an object name from ids only, never from the name of an uploaded file.
 * @throws Error for ids that are not valid path segments
 */
export function objectName(containerName: string, fileId: string): string {
  if (!part.test(containerName) || !part.test(fileId)) throw new Error('object names must consist of valid ids');
  return `${containerName}/${fileId}`;
}

export function isObjectName(location: string): boolean {
  return form.test(location) && !location.includes('..');
}

export function noSuchObject(cause?: unknown): AppError {
  return new AppError('not_found', 'the content of the file does not exist', { cause });
}
