import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../../errors.js';

/** Statements beside the database, where whoever can change the database does not reach. */
export interface CheckpointFile {
  append(organizationId: string, statement: string): Promise<void>;
  /** Every statement in the order in which it was made here; empty where none was. */
  read(organizationId: string): Promise<string[]>;
}

/** One append-only file for each organization, a statement a line. Several processes may share the folder. */
export function createCheckpointFile(folder: string): CheckpointFile {
  const fileOf = (organizationId: string) => path.join(folder, `${encodeURIComponent(organizationId)}.jws`);
  return {
    async append(organizationId, statement) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const handle = await open(fileOf(organizationId), 'a', 0o600);
      try {
        // Its own line even behind one that a crash has torn.
        await handle.appendFile(`\n${statement}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    async read(organizationId) {
      try {
        const text = await readFile(fileOf(organizationId), 'utf8');
        return text.split('\n').filter((line) => line !== '');
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return [];
        throw error;
      }
    },
  };
}
