import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, hasCode } from '../errors.js';
import { isObjectName, type FileStore } from './file-store.js';

const noSuchObject = (cause?: unknown) => new AppError('not_found', 'the file holds no bytes', { cause });

/** Objects as files below `folder`: written aside, synced and renamed. API and workers share the folder. */
export function createDiskFileStore(folder: string): FileStore {
  const fileOf = (location: string) => {
    if (!isObjectName(location)) throw noSuchObject();
    return path.join(folder, location);
  };
  const asideOf = (location: string) => `${fileOf(location)}.part`;
  return {
    async write(location, source) {
      const aside = asideOf(location);
      try {
        await mkdir(path.dirname(aside), { recursive: true });
        await pipeline(source, createWriteStream(aside, { flags: 'w', mode: 0o600, flush: true }));
        await rename(aside, fileOf(location));
      } catch (error) {
        source.destroy();
        await rm(aside, { force: true });
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
      await Promise.all([fileOf(location), asideOf(location)].map((file) => rm(file, { force: true })));
    },
    localPath: fileOf,
    presign: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}
