import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Returns the file of the password of a local server, which only this user can read. */
export function passwordFile(folder: string): string {
  return path.join(folder, 'password');
}

/**
 * Returns the password of the local server with this data folder. The first call creates it, so that other users of
 * the machine cannot use the server.
 */
export function ownPassword(folder: string): string {
  const file = passwordFile(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, randomBytes(24).toString('hex'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(file, 'utf8');
}
