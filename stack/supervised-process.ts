import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { StackError } from './stack-error.js';

/**
 * The shell replaces itself with the command, so its pid becomes the command's, which leads the process group. A guard
 * in that group ends the group when its stdin closes, which happens whenever this process ends.
 */
const guardThenRun = `
exec 3<&0 </dev/null
(
  trap '' TERM INT HUP
  while read -r _ <&3; do :; done
  kill -s TERM -- -$$
  n=0
  while kill -0 $$ && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
  kill -s KILL -- -$$
) 2>/dev/null &
exec "$@" 3<&-
`;

export interface Command {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd?: string | undefined;
  /** The file that stdout and stderr are appended to. */
  logFile: string;
}

export interface SupervisedProcess {
  pid: number;
  /** How it ended ("code 1", "SIGKILL"); undefined while it runs. */
  ended(): string | undefined;
  exit: Promise<string>;
  /** Signals the whole process group. */
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, and SIGKILL if the process still runs after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** Starts a child process that ignores Ctrl-C in this terminal and ends when this process ends. */
export function runSupervised({ command, args, env, cwd, logFile }: Command): SupervisedProcess {
  if (process.platform === 'win32')
    throw new StackError('The local stack needs Linux or macOS: on Windows, use WSL or Docker.');
  mkdirSync(path.dirname(logFile), { recursive: true });
  const output = openSync(logFile, 'a');
  const child = spawn('/bin/sh', ['-c', guardThenRun, 'sh', command, ...args], {
    stdio: ['pipe', output, output],
    detached: true,
    env,
    cwd,
  });
  closeSync(output);
  return supervise(child);
}

function supervise(child: ChildProcess): SupervisedProcess {
  const pid = child.pid;
  if (pid === undefined) throw new Error('/bin/sh could not be started');
  let ended: string | undefined;
  child.stdin?.on('error', () => undefined);
  const exit = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => {
    child.stdin?.destroy();
    return (ended = signal === null ? `code ${code}` : String(signal));
  });
  const signal = (name: NodeJS.Signals): void => {
    if (ended === undefined) signalGroup(pid, name);
  };
  const stop = async (graceMs = 15_000): Promise<void> => {
    signal('SIGTERM');
    const deadline = setTimeout(() => signal('SIGKILL'), graceMs);
    await exit;
    clearTimeout(deadline);
  };
  return { pid, ended: () => ended, exit, signal, stop };
}

export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
