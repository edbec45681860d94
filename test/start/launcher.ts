import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { eventually } from '../support/eventually.js';
import { testRun } from '../support/run.js';

export interface Launched {
  pid: number;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** Waits for a text on stdout, and fails at once when the launcher ended without it. */
  says(text: string | RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Every process that it started, itself included, and their children. */
  processes(): number[];
}

const started: Launched[] = [];

/** `npm start` without the build: on the run's servers, so that no test waits for servers of its own. */
export function launch(dataDir: string, env: Record<string, string>, args: string[] = []): Launched {
  const marker = randomUUID();
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_UI_URL, MONGODB_URI, NEO4J_URI, NEO4J_USER, NEO4J_PASSWORD } = testRun().env;
  const servers = { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_UI_URL, MONGODB_URI, NEO4J_URI, NEO4J_USER, NEO4J_PASSWORD };
  const own = { DATA_DIR: dataDir, TEMPORAL_TASK_QUEUE: `start-${marker}`, LAUNCH_MARKER: marker };
  const child = spawn(process.execPath, [path.join(packageRoot, 'dist/stack/start.js'), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...servers, ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (printed.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed.stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const launched: Launched = {
    pid: child.pid ?? 0,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    says: (text) => saysOrEnds(text, printed, () => child.exitCode ?? child.signalCode),
    signal: (name) => void child.kill(name),
    ended,
    processes: () => processesWith(`LAUNCH_MARKER=${marker}`),
  };
  started.push(launched);
  return launched;
}

/** For `afterEach`: what a failed test left. */
export function endAll(): void {
  for (const { processes } of started.splice(0)) processes().forEach((pid) => process.kill(pid, 'SIGKILL'));
}

async function saysOrEnds(
  text: string | RegExp,
  printed: { stdout: string; stderr: string },
  end: () => number | string | null,
): Promise<RegExpExecArray> {
  const pattern = typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text;
  const found = await eventually(() => {
    const hit = pattern.exec(printed.stdout);
    if (hit === null && end() === null) throw new Error(`${pattern.source} was not printed:\n${printed.stdout}\n${printed.stderr}`);
    return hit;
  });
  if (found === null) throw new Error(`it ended (${end()}) before it printed ${pattern.source}:\n${printed.stdout}\n${printed.stderr}`);
  return found;
}

/** The kernel keeps the environment that a process was started with, which its children inherit. */
function processesWith(variable: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readIfThere(`/proc/${pid}/environ`).split('\0').includes(variable)).map(Number);
}

function readIfThere(file: string): string {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}
