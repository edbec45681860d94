import { renameSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from './progress.js';
import { endOf } from './run-to-end.js';
import { messageOf, StackError } from './stack-error.js';
import { runSupervised, type Command, type SupervisedProcess } from './supervised-process.js';

export type ServiceName = 'temporal' | 'mongodb' | 'neo4j';

export interface Service {
  name: ServiceName;
  /** True: somebody else's server, which is never started or stopped here. */
  external: boolean;
  pid?: number | undefined;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** On the same ports and data. */
  restart(): Promise<void>;
}

export interface StartedService {
  service: Service;
  /** What `src/config.ts` reads to reach it. */
  environment: Record<string, string>;
}

export interface ServerSpecification extends Command {
  name: ServiceName;
  title: string;
  /** One attempt to use the server; throws until it really answers. */
  answers: () => Promise<void>;
  log: Log;
  onStart?: ((name: ServiceName, pid: number) => void) | undefined;
  /** Gives up waiting for the server to answer. */
  signal?: AbortSignal | undefined;
}

const startDeadlineMs = 90_000;
const attemptPauseMs = 100;
const largeLogBytes = 10 * 1024 * 1024;

/** Starts the server and returns when it answers. */
export async function launch(specification: ServerSpecification): Promise<Service> {
  let running = await start(specification);
  let wanted = true;
  const stop = (): Promise<void> => {
    wanted = false;
    return running.stop();
  };
  const reportLoss = (): void => {
    wanted = true;
    const { title, log, logFile } = specification;
    void running.exit.then((how) => wanted && log(`${title}: ended unexpectedly (${how}); see ${logFile}`));
  };
  reportLoss();
  return {
    name: specification.name,
    external: false,
    get pid() {
      return running.ended() === undefined ? running.pid : undefined;
    },
    stop,
    async kill(signal) {
      wanted = false;
      running.signal(signal);
      if (signal === 'SIGKILL' || signal === 'SIGTERM') await running.exit;
    },
    async restart() {
      await stop();
      running = await start(specification);
      reportLoss();
    },
  };
}

/** A server that the environment names. It is only used. */
export function externalService(name: ServiceName): Service {
  const refuse = (): Promise<never> => Promise.reject(new StackError(`${name} is external: it is not ours to stop or restart.`));
  return { name, external: true, stop: () => Promise.resolve(), kill: refuse, restart: refuse };
}

async function start(specification: ServerSpecification): Promise<SupervisedProcess> {
  const { title, log, logFile } = specification;
  const begun = Date.now();
  setLargeLogAside(logFile);
  const running = runSupervised(specification);
  specification.onStart?.(specification.name, running.pid);
  try {
    await untilItAnswers(running, specification);
  } catch (error) {
    await running.stop();
    throw error;
  }
  log(`${title}: answers after ${((Date.now() - begun) / 1000).toFixed(1)} s (pid ${running.pid}, log ${logFile})`);
  return running;
}

function setLargeLogAside(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largeLogBytes) renameSync(file, `${file}.1`);
}

async function untilItAnswers(running: SupervisedProcess, { title, answers, logFile, signal }: ServerSpecification): Promise<void> {
  const deadline = Date.now() + startDeadlineMs;
  for (;;) {
    const failure = await answers().then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    const ended = running.ended();
    if (ended !== undefined) {
      throw new StackError(`${title} ended while it started (${ended}); the end of ${logFile}:\n${await endOf(logFile)}`);
    }
    if (failure === undefined) return;
    if (Date.now() > deadline) {
      throw new StackError(`${title} does not answer after ${startDeadlineMs / 1000} s (${failure}); see ${logFile}.`);
    }
    await pause(attemptPauseMs, undefined, { signal });
  }
}
