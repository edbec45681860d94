import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../src/package-root.js';
import { endOf } from './run-to-end.js';
import { messageOf, StackError } from './stack-error.js';
import { runSupervised, type SupervisedProcess } from './supervised-process.js';

export interface Product {
  stop(): Promise<void>;
  /** Settles when one of its processes ended, with what to say about it. */
  lost: Promise<string>;
}

export interface ProductOptions {
  /** Where the API answers on this machine. */
  apiUrl: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  signal: AbortSignal;
}

const readyMs = 60_000;
const graceMs = 25_000;

/** Starts the API and the worker as two processes of their own and waits until both take work. */
export async function startProduct({ apiUrl, dataDir, env, log, signal }: ProductOptions): Promise<Product> {
  const parts = [
    run('API', 'src/main.js', path.join(dataDir, 'logs/api.log'), env),
    run('worker', 'src/worker.js', path.join(dataDir, 'logs/worker.log'), env),
  ] as const;
  const stop = async () => void (await Promise.all(parts.map(({ process }) => process.stop(graceMs))));
  const lost = Promise.race(parts.map(async ({ title, process, logFile }) => `The ${title} ended (${await process.exit}); see ${logFile}`));
  try {
    await until(() => answersReady(apiUrl), parts, signal);
    await until(() => says(parts[1].logFile, parts[1].logFrom, '"msg":"polling"'), parts, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  log(`API: ready at ${apiUrl} (pid ${parts[0].process.pid}); worker: polling (pid ${parts[1].process.pid})`);
  return { stop, lost };
}

interface Part {
  title: string;
  process: SupervisedProcess;
  logFile: string;
  /** Where this start's lines begin. */
  logFrom: number;
}

function run(title: string, script: string, logFile: string, env: NodeJS.ProcessEnv): Part {
  const logFrom = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const args = ['--enable-source-maps', path.join(packageRoot, 'dist', script)];
  return { title, process: runSupervised({ command: process.execPath, args, env, logFile }), logFile, logFrom };
}

async function until(check: () => Promise<void>, parts: readonly [Part, Part], signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + readyMs;
  for (;;) {
    const failure = await check().then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    if (failure === undefined) return;
    for (const { title, process, logFile } of parts) {
      if (process.ended() !== undefined) throw new StackError(`The ${title} ended while it started; the end of ${logFile}:\n${await endOf(logFile)}`);
    }
    if (Date.now() > deadline) throw new StackError(`The product is not ready after ${readyMs / 1000} s (${failure}); see ${parts[0].logFile}.`);
    await pause(100, undefined, { signal });
  }
}

async function answersReady(apiUrl: string): Promise<void> {
  const response = await fetch(`${apiUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`/readyz answers ${response.status}: ${await response.text()}`);
}

async function says(logFile: string, from: number, text: string): Promise<void> {
  const lines = (await readFile(logFile)).subarray(from).toString();
  if (!lines.includes(text)) throw new Error('the worker does not poll yet');
}
