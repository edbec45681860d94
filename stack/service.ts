import { renameSync, statSync } from 'node:fs';
import type { Log } from './progress.js';
import { createRestartLimit, restartLimitText } from './restarts.js';
import { endOf } from './run-to-end.js';
import { messageOf, StackError } from './stack-error.js';
import { runSupervised, type Command, type SupervisedProcess } from './supervised-process.js';
import { waitUntil } from './wait-until.js';

export type ServiceName = 'temporal' | 'mongodb' | 'neo4j';

export interface Service {
  name: ServiceName;
  /** True for a server that the stack uses but never starts or stops. */
  external: boolean;
  pid?: number | undefined;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Restarts with the same ports and data. */
  restart(): Promise<void>;
}

export interface StartedService {
  service: Service;
  /** The variables that `src/config.ts` reads to reach it. */
  environment: Record<string, string>;
}

export interface ServerSpecification extends Command {
  name: ServiceName;
  title: string;
  /** Uses the server, and throws until it works. */
  answers: () => Promise<void>;
  log: Log;
  onStart?: ((name: ServiceName, pid: number) => void) | undefined;
  /** Cancels waiting for the server. */
  signal?: AbortSignal | undefined;
}

const startDeadlineMs = 90_000;
const largeLogBytes = 10 * 1024 * 1024;

/** Starts the server and returns when it responds. Restarts a server that ends unexpectedly. */
export async function launch(specification: ServerSpecification): Promise<Service> {
  let running = await start(specification);
  let wanted = true;
  const stop = (): Promise<void> => {
    wanted = false;
    return running.stop();
  };
  const { title, log, logFile } = specification;
  const limit = createRestartLimit();
  const watch = (): void => {
    wanted = true;
    const watched = running;
    void watched.exit.then(async (how) => {
      if (!wanted || watched !== running) return;
      if (!limit.allows()) return log(`${title}: ${restartLimitText} (${how}) and stays down; see ${logFile}`);
      log(`${title}: ended unexpectedly (${how}); starting it again`);
      try {
        running = await start(specification);
        if (wanted) watch();
        else await running.stop();
      } catch (error) {
        log(`${title}: could not be started again: ${messageOf(error)}`);
      }
    });
  };
  watch();
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
      watch();
    },
  };
}

/** A server that the environment names. The stack does not manage it. */
export function externalService(name: ServiceName): Service {
  const refuse = (): Promise<never> =>
    Promise.reject(new StackError(`${name} is external: the stack cannot stop or restart it.`));
  return { name, external: true, stop: () => Promise.resolve(), kill: refuse, restart: refuse };
}

async function start(specification: ServerSpecification): Promise<SupervisedProcess> {
  const { title, log, logFile } = specification;
  const begun = Date.now();
  rotateLargeLog(logFile);
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

function rotateLargeLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largeLogBytes) renameSync(file, `${file}.1`);
}

async function untilItAnswers(
  running: SupervisedProcess,
  { title, answers, logFile, signal }: ServerSpecification,
): Promise<void> {
  await waitUntil(answers, {
    async assertRunning() {
      const ended = running.ended();
      if (ended === undefined) return;
      const text = `${title} ended while it started (${ended}); the end of ${logFile}`;
      throw new StackError(`${text}:\n${await endOf(logFile)}`);
    },
    timeoutMs: startDeadlineMs,
    late: (failure) => `${title} does not answer after ${startDeadlineMs / 1000} s (${failure}); see ${logFile}.`,
    signal,
  });
}
