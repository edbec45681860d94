import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../src/base/packages.js';
import { createRestartLimit, restartLimitText } from './restarts.js';
import { endOf } from './run-to-end.js';
import { StackError } from './stack-error.js';
import { runSupervised, type SupervisedProcess } from './supervised-process.js';
import { waitUntil } from './wait-until.js';

export interface Product {
  stop(): Promise<void>;
  /** Resolves with a message when one of its processes has ended. */
  lost: Promise<string>;
}

interface ProductOptions {
  /** The local address of the API. */
  apiUrl: string;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  signal: AbortSignal;
}

const readyTimeoutMs = 60_000;
const graceMs = 25_000;

/**
 * Starts the API and the worker as separate processes and waits until both are ready. Restarts a process that ends
 * unexpectedly.
 */
export async function startProduct({ apiUrl, dataDir, env, log, signal }: ProductOptions): Promise<Product> {
  const parts = [
    run('API', 'src/main.js', path.join(dataDir, 'logs/api.log'), env),
    run('worker', 'src/worker.js', path.join(dataDir, 'logs/worker.log'), env),
  ] as const;
  let stopping = false;
  const stop = async () => {
    stopping = true;
    await Promise.all(parts.map(({ process }) => process.stop(graceMs)));
  };
  try {
    await until(() => checkReady(apiUrl), parts, signal);
    await until(() => expectLogLine(parts[1].logFile, parts[1].logFrom, '"msg":"polling"'), parts, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  log(
    `API: ready at ${env.BASE_URL ?? apiUrl} (pid ${parts[0].process.pid}); worker: polling (pid ${parts[1].process.pid})`,
  );
  return { stop, lost: Promise.race(parts.map((part) => keepRunning(part, { log, isStopping: () => stopping }))) };
}

interface Part {
  title: string;
  /** The current process of this part. */
  process: SupervisedProcess;
  start: () => SupervisedProcess;
  logFile: string;
  /** The offset in the log file at which the lines of this start begin. */
  logFrom: number;
}

function run(title: string, script: string, logFile: string, env: NodeJS.ProcessEnv): Part {
  const logFrom = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  const args = ['--max-semi-space-size=8', path.join(packageRoot, 'dist', script)];
  // As in the Dockerfile. The C library returns memory that the start used.
  const ownEnv = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072', ...env };
  const start = () => runSupervised({ command: process.execPath, args, env: ownEnv, logFile });
  return { title, process: start(), start, logFile, logFrom };
}

/** Restarts the part until it is stopped. @returns why it stays down after too many restarts */
async function keepRunning(
  part: Part,
  { log, isStopping }: { log: (line: string) => void; isStopping: () => boolean },
): Promise<string> {
  const limit = createRestartLimit();
  const { title, logFile } = part;
  for (;;) {
    const ending = await part.process.exit;
    if (isStopping()) return `The ${title} was stopped`;
    if (!limit.allows()) return `The ${title} ${restartLimitText} (${ending}); see ${logFile}`;
    log(`The ${title} ended unexpectedly (${ending}); starting it again. See ${logFile}`);
    part.process = part.start();
  }
}

async function until(check: () => Promise<void>, parts: readonly [Part, Part], signal: AbortSignal): Promise<void> {
  await waitUntil(check, {
    async assertRunning() {
      for (const { title, process, logFile } of parts) {
        if (process.ended() !== undefined)
          throw new StackError(`The ${title} ended while it started; the end of ${logFile}:\n${await endOf(logFile)}`);
      }
    },
    timeoutMs: readyTimeoutMs,
    late: (failure) =>
      `The product is not ready after ${readyTimeoutMs / 1000} s (${failure}); see ${parts[0].logFile}.`,
    signal,
  });
}

async function checkReady(apiUrl: string): Promise<void> {
  const response = await fetch(`${apiUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`/readyz answers ${response.status}: ${await response.text()}`);
}

async function expectLogLine(logFile: string, from: number, text: string): Promise<void> {
  const lines = (await readFile(logFile)).subarray(from).toString();
  if (!lines.includes(text)) throw new Error('the worker does not poll yet');
}
