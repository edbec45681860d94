import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { eventually } from '../support/eventually.js';
import { testRun } from '../support/run.js';

export interface Launched {
  pid: number;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Waits for a text on stdout, and fails immediately if the launcher ends without it. */
  says(text: string | RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** All processes that it started, including itself, and their children. */
  processes(): number[];
}

/** The executions after the first start: the sample, and a run that waits for an approval. */
export const bothSamples = {
  total_count: 2,
  data: expect.arrayContaining([
    expect.objectContaining({ status: 'completed' }),
    expect.objectContaining({ status: 'running' }),
  ]),
};

const started: Launched[] = [];

/** `npm start` without the build, on the run's servers, so that no test waits for new servers. */
export function launch(
  dataDir: string,
  env: Record<string, string>,
  args: string[] = [],
  { cwd, node = process.execPath }: { cwd?: string; node?: string } = {},
): Launched {
  const marker = randomUUID();
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_UI_URL, MONGODB_URI, NEO4J_URI, NEO4J_USER, NEO4J_PASSWORD } =
    testRun().env;
  const servers = {
    TEMPORAL_ADDRESS,
    TEMPORAL_NAMESPACE,
    TEMPORAL_UI_URL,
    MONGODB_URI,
    NEO4J_URI,
    NEO4J_USER,
    NEO4J_PASSWORD,
  };
  // The run's database has sealed keys, which the product opens to sign somebody in.
  const SECRETS_KEY = readFileSync(path.join(testRun().env.DATA_DIR ?? '', 'secrets.key'), 'utf8').trim();
  const own = {
    SECRETS_KEY,
    DATA_DIR: dataDir,
    // A later start with the same data folder continues the runs of an earlier one.
    TEMPORAL_TASK_QUEUE: `start-${path.basename(dataDir)}`,
    LAUNCH_MARKER: marker,
  };
  const child = spawn(node, [path.join(packageRoot, 'dist/stack/start.js'), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...servers, ...own, ...env },
    cwd,
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

/** The commands that the summary prints. */
export function commandsIn(shown: string): string[] {
  return shown.split('\n').filter((line) => line.startsWith('  curl '));
}

/** Runs a printed command in a shell in which curl fails on a refusal; returns the answer. */
export async function paste(command: string): Promise<unknown> {
  const curl = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }';
  const { stdout } = await promisify(execFile)('bash', ['-c', `${curl}\n${command}`]);
  return JSON.parse(stdout) as unknown;
}

/** For `afterEach`: ends the processes that a failed test left running. */
export function endAll(): void {
  for (const { processes } of started.splice(0)) processes().forEach((pid) => process.kill(pid, 'SIGKILL'));
}

async function saysOrEnds(
  text: string | RegExp,
  printed: { stdout: string; stderr: string },
  end: () => number | string | null,
): Promise<RegExpExecArray> {
  const pattern = typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text;
  const found = await eventually(
    () => {
      const hit = pattern.exec(printed.stdout);
      if (hit === null && end() === null)
        throw new Error(`${pattern.source} was not printed:\n${printed.stdout}\n${printed.stderr}`);
      return hit;
    },
    { timeoutMs: 120_000 },
  );
  if (found === null)
    throw new Error(`it ended (${end()}) before it printed ${pattern.source}:\n${printed.stdout}\n${printed.stderr}`);
  return found;
}

/** The kernel keeps the initial environment of a process, which its children inherit. */
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
