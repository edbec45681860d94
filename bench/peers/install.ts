import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../src/base/packages.js';
import { cacheRoot } from '../../stack/binary-cache.js';
import { runToEnd } from '../../stack/run-to-end.js';

/** What npm installs: exact versions, and versions of their dependencies that they do not name correctly. */
export interface Packages {
  dependencies: Record<string, string>;
  overrides?: Record<string, string>;
}

const apps = path.join(packageRoot, 'bench/peers/apps');

/**
 * Returns a folder outside the tree that has the packages of an engine and the apps of `apps`. Installs the packages once. Scripts
 * of the packages do not run.
 */
export async function installed(engine: string, packages: Packages): Promise<string> {
  const content = JSON.stringify({ private: true, ...packages }, undefined, 2);
  const key = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const folder = path.join(cacheRoot(process.env), 'peers', `${engine}-${key}`);
  if (!existsSync(folder)) {
    console.error(`${engine}: npm installs it once into ${folder}. This can take minutes.`);
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    await writeFile(path.join(unfinished, 'package.json'), content);
    await runToEnd({
      command: 'npm',
      args: ['install', '--ignore-scripts', '--no-audit', '--no-fund'],
      env: process.env,
      cwd: unfinished,
      logFile: path.join(unfinished, 'npm.log'),
    });
    await rename(unfinished, folder);
  }
  for (const app of await readdir(apps)) await copyFile(path.join(apps, app), path.join(folder, app));
  return folder;
}
