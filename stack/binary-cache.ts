import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { lockWhenFree } from './lock-file.js';
import { withHeartbeat, type Log } from './progress.js';
import { messageOf } from './stack-error.js';
import { answersQuickly } from './vendor-download.js';

export interface Preparation {
  env: NodeJS.ProcessEnv;
  log: Log;
  signal?: AbortSignal | undefined;
}

/** The folder to fill, and the log file of the commands that fill it. */
export interface Workplace extends Preparation {
  folder: string;
  logFile: string;
}

interface Way {
  /** The cache folder, named after its content and version. */
  key: string;
  into: (place: Workplace) => Promise<void>;
}

export interface Recipe {
  title: string;
  download: Way & { probe: string };
  build: Way & { from: string; takes: string };
}

export function cacheRoot(env: NodeJS.ProcessEnv): string {
  return path.join(env.XDG_CACHE_HOME || path.join(env.HOME ?? homedir(), '.cache'), 'governed-context-service');
}

/** Returns the folder of a recipe: from the cache, downloaded from the vendor, or built from a package registry. */
export async function obtainBinary(recipe: Recipe, preparation: Preparation): Promise<string> {
  const { title, download } = recipe;
  const { log, env } = preparation;
  const cached = cachedFolder(recipe, env);
  if (cached) return cached;
  const host = new URL(download.probe).host;
  if (await answersQuickly(download.probe, env)) {
    try {
      return await fill(download, `${title}: downloading from ${host}, once`, preparation);
    } catch (error) {
      preparation.signal?.throwIfAborted();
      log(`${title}: the download failed (${messageOf(error)})`);
    }
  } else {
    log(`${title}: ${host} cannot be reached`);
  }
  return obtainBuiltBinary(recipe, preparation);
}

/** Returns the folder of a build: from the cache, or built from a package registry. */
export async function obtainBuiltBinary(
  { title, build }: Pick<Recipe, 'title' | 'build'>,
  preparation: Preparation,
): Promise<string> {
  const folder = path.join(cacheRoot(preparation.env), build.key);
  if (existsSync(folder)) return folder;
  return fill(build, `${title}: building from ${build.from}, about ${build.takes}, once`, preparation);
}

export function cachedFolder({ download, build }: Recipe, env: NodeJS.ProcessEnv): string | undefined {
  return [download.key, build.key].map((key) => path.join(cacheRoot(env), key)).find((folder) => existsSync(folder));
}

/** Fills a temporary folder and renames it, so that nobody uses a half-built one. */
async function fill({ key, into }: Way, headline: string, { env, log, signal }: Preparation): Promise<string> {
  const root = cacheRoot(env);
  const target = path.join(root, key);
  const release = await lockWhenFree(path.join(root, `${key}.lock`), {
    waiting: (pid) => log(`${headline}; process ${pid} is at it, waiting for it`),
    signal,
  });
  const partial = `${target}.partial`;
  try {
    if (existsSync(target)) return target;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    const logFile = path.join(root, 'logs', `${key}.log`);
    await rm(logFile, { force: true });
    log(headline);
    await withHeartbeat(log, headline.replace(/,.*/, ''), () => into({ env, log, signal, folder: partial, logFile }));
    await rename(partial, target);
    return target;
  } finally {
    await rm(partial, { recursive: true, force: true });
    release();
  }
}
