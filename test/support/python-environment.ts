import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheRoot } from '../../stack/binary-cache.js';
import { lockWhenFree } from '../../stack/lock-file.js';

const run = promisify(execFile);

/** Runs pip with these arguments. */
type Pip = (...args: string[]) => Promise<unknown>;

/**
 * A Python environment in the user's cache folder; made on first use, by one test at a time.
 * @returns its folder
 * @throws Error that names the missing prerequisite
 */
export async function pythonEnvironment(
  name: string,
  fill: (pip: Pip, folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = path.join(cacheRoot(process.env), name);
  const complete = path.join(folder, 'complete');
  if (existsSync(complete)) return folder;
  const release = await lockWhenFree(`${folder}.lock`, { waiting: () => undefined });
  try {
    if (!existsSync(complete)) await makeEnvironment(name, folder, fill);
  } finally {
    release();
  }
  return folder;
}

async function makeEnvironment(
  name: string,
  folder: string,
  fill: (pip: Pip, folder: string) => Promise<unknown>,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.dirname(folder), { recursive: true });
  const pip: Pip = (...args) =>
    run(path.join(folder, 'bin', 'python'), ['-m', 'pip', ...args, '--quiet', '--disable-pip-version-check'], {
      timeout: 900_000,
    });
  try {
    await run('python3', ['-m', 'venv', folder]);
    await fill(pip, folder);
  } catch (cause) {
    throw new Error(
      `${name} cannot be installed: it needs python3 with venv and pip, and PyPI (or a PIP_INDEX_URL that has its packages)`,
      { cause },
    );
  }
  await writeFile(path.join(folder, 'complete.new'), name);
  await rename(path.join(folder, 'complete.new'), path.join(folder, 'complete'));
}
