import type { Readable } from 'node:stream';

/** An object is complete or absent; its location is an object name made by {@link objectName}. */
export interface FileStore {
  /** Streams `source` into the object; when it fails, nothing is left. Memory stays flat, whatever the size. */
  write(location: string, source: Readable): Promise<void>;
  /** @throws AppError `not_found` for a location that holds nothing */
  read(location: string): Promise<Readable>;
  /** What is gone already does no harm; what a killed process left half-written goes as well. */
  remove(location: string): Promise<void>;
  /** The file that holds the object, for a store on this machine; undefined where the store serves downloads itself. */
  localPath(location: string): string | undefined;
  /** An address of the store's own that reads this one object until it expires; undefined where the store has none. */
  presign(location: string, download: Download): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface Download {
  disposition: string;
  type: string;
  expiresInSeconds: number;
}

const part = /^[A-Za-z0-9_-]{1,128}$/;
const form = /^[A-Za-z0-9_-]{1,128}\/[A-Za-z0-9_.-]{1,160}$/;

/**
 * Made of ids alone, never of what a sender calls a file.
 * @throws Error for ids that are no path parts
 */
export function objectName(containerName: string, fileId: string): string {
  if (!part.test(containerName) || !part.test(fileId)) throw new Error('an object name is made of ids');
  return `${containerName}/${fileId}`;
}

export function isObjectName(location: string): boolean {
  return form.test(location) && !location.includes('..');
}
