import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hasCode } from '../base/errors.js';
import { isObjectName, noSuchObject, type FileStore } from './file-store.js';

/**
 * Stores objects as files in `folder`, which the API and the workers share. Writes a temporary file, syncs it, then
 * renames it.
 */
export function createDiskFileStore(folder: string): FileStore {
  const fileOf = (location: string) => {
    if (!isObjectName(location)) throw noSuchObject();
    return path.join(folder, location);
  };
  const temporaryFileOf = (location: string) => `${fileOf(location)}.part`;
  return {
    async write(location, source) {
      const temporary = temporaryFileOf(location);
      try {
        await mkdir(path.dirname(temporary), { recursive: true });
        await pipeline(source, createWriteStream(temporary, { flags: 'w', mode: 0o600, flush: true }));
        await rename(temporary, fileOf(location));
      } catch (error) {
        source.destroy();
        await rm(temporary, { force: true });
        throw error;
      }
    },
    async read(location) {
      try {
        const handle = await open(fileOf(location));
        return handle.createReadStream();
      } catch (error) {
        throw hasCode(error, 'ENOENT') ? noSuchObject(error) : error;
      }
    },
    async remove(location) {
      await Promise.all([fileOf(location), temporaryFileOf(location)].map((file) => rm(file, { force: true })));
    },
    localPath: fileOf,
    presign: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}
