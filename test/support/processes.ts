import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseJsonObject } from '../../src/base/json.js';
import { packageRoot } from '../../src/base/packages.js';

/** A process of the product as a user runs it: the built files, its own environment, its log in a file. */
export interface ProductProcess {
  child: ChildProcess;
  /** The log line that reported that it is up. */
  up: Record<string, unknown>;
  /** Sends the signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface Api extends ProductProcess {
  url: string;
  port: number;
}

/** A start takes seconds of processor time, and much longer on a busy machine. */
const startMs = 120_000;

export async function startApi(env: Record<string, string>, logFile: string): Promise<Api> {
  const started = await startScript('src/main.js', env, logFile, 'listening');
  const port = Number(started.up.port);
  return { ...started, port, url: `http://127.0.0.1:${port}` };
}

export function startWorker(env: Record<string, string>, logFile: string): Promise<ProductProcess> {
  return startScript('src/worker.js', env, logFile, 'polling');
}

/** `root` is another folder with `dist` and `node_modules`. */
export async function startScript(
  script: string,
  env: Record<string, string>,
  logFile: string,
  upMessage: string,
  root = packageRoot,
): Promise<ProductProcess> {
  const child = spawn(process.execPath, ['--max-semi-space-size=8', path.join(root, 'dist', script)], {
    // The zone of a machine must not matter.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      TZ: 'Australia/Lord_Howe',
      VERIFY_RESPONSES: 'true',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const up = await Promise.race([
    waitForLine(child, upMessage, logFile),
    ended.then(([code, signal]) =>
      Promise.reject(new Error(`${script} ended (${code ?? signal}) before it was up, see ${logFile}`)),
    ),
  ]);
  return {
    child,
    up,
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await ended;
      return { code, signal: by };
    },
  };
}

function waitForLine(child: ChildProcess, message: string, logFile: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`no "${message}" within ${startMs} ms, see ${logFile}`));
    }, startMs);
    child.once('exit', () => clearTimeout(late));
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const parsed = parseJsonObject(line);
      if (parsed.msg !== message) return;
      clearTimeout(late);
      resolve(parsed);
    });
  });
}
