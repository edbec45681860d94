import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../../base/errors.js';

export type CheckpointFile = ReturnType<typeof createCheckpointFile>;

/**
 * Keeps statements and their public keys out of reach of anybody who can change the database. Append-only files: one per
 * organization with a statement per line, and one for the public keys. Several processes can share the folder. An empty
 * line follows each line, which distinguishes a complete line from one that a crash truncated.
 */
export function createCheckpointFile(folder: string) {
  const fileOf = (organizationId: string) => path.join(folder, `${encodeURIComponent(organizationId)}.jws`);
  const keyFile = path.join(folder, 'keys.jwks');
  const known = new Set<string>();

  async function readKeys(): Promise<Map<string, object>> {
    const keys = new Map<string, object>();
    for (const line of await linesOf(keyFile)) {
      const key = JSON.parse(line) as object;
      const kid = kidOf(key);
      if (kid !== '' && !keys.has(kid)) keys.set(kid, key);
    }
    return keys;
  }

  return {
    append: (organizationId: string, statement: string) => appendLine(folder, fileOf(organizationId), statement),
    /** All statements in the order in which they were written here. */
    read: (organizationId: string) => linesOf(fileOf(organizationId)),
    /** Stores new keys. An existing key with the same id is never replaced. */
    async pin(keys: readonly object[]): Promise<void> {
      const missing = keys.filter((key) => !known.has(kidOf(key)));
      if (missing.length === 0) return;
      const present = await readKeys();
      for (const key of missing) {
        if (!present.has(kidOf(key))) await appendLine(folder, keyFile, JSON.stringify(key));
        known.add(kidOf(key));
      }
    },
    pinned: async () => ({ keys: [...(await readKeys()).values()] }),
  };
}

export function kidOf(key: object): string {
  return 'kid' in key && typeof key.kid === 'string' ? key.kid : '';
}

async function appendLine(folder: string, file: string, line: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.appendFile(`\n${line}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function linesOf(file: string): Promise<string[]> {
  try {
    const lines = (await readFile(file, 'utf8')).split('\n');
    return lines.filter((line, index) => line !== '' && lines[index + 1] === '');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
