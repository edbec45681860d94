import path from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { abortWith } from '../base/async.js';
import type { ErrorCode } from '../base/error-catalog.js';
import { AppError, type ErrorFacts } from '../base/errors.js';
import type { McpOutput, ToolSchema } from '../outbound/mcp-output.js';
import { packageRoot } from '../base/packages.js';
import { createTurns, shareOf } from '../base/turns.js';

/**
 * The jobs of `src/thread.ts`. Each caller declares its own jobs next to its code (declaration merging,
 * docs/decisions/0001).
 */
export interface ThreadJobs {
  redactAnswer(answer: unknown): unknown;
  hideSecrets(answer: unknown): unknown;
  problemOfOutput(output: McpOutput): string | undefined;
  problemsOfSchemas(schemas: readonly ToolSchema[]): (string | undefined)[];
}

type JobName = keyof ThreadJobs;
type Input<Name extends JobName> = Parameters<ThreadJobs[Name]>[0];
type Result<Name extends JobName> = Awaited<ReturnType<ThreadJobs[Name]>>;

/** What a thread receives: the input of the job, and a port on which it reports that the job begins. */
export interface ThreadJob<I> {
  input: I;
  begins: MessagePort;
}

/** Returns refusals as data, because an error loses its class and code when it leaves a thread. */
export type ThreadAnswer<T> = { value: T } | { refused: { code: ErrorCode; description: string; facts: ErrorFacts } };

interface JobOptions {
  /** Whose job it is: an organization, or the name of the job if nobody is known yet. Each owner runs one at a time. */
  owner: string;
  /** The longest time that the job itself runs, without the wait for a thread; 20 seconds if omitted. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called when the job begins in a thread. */
  begun?: () => void;
}

/** Runs work in threads of this process that would otherwise block the event loop. */
export interface Threads {
  /**
   * Runs a job in a thread. A job that exceeds its time or memory limit ends together with its thread.
   * @throws AppError as the job does; `unavailable` if no thread takes it in time or too many jobs of the owner wait;
   *   `internal_error` for any other failure
   */
  run<Name extends JobName>(name: Name, input: Input<Name>, options: JobOptions): Promise<Result<Name>>;
  close(): Promise<void>;
}

const maxThreads = 2;
const jobTimeoutMs = 20_000;
const defaultHeapMiB = 512;
const maxWaiting = 200;

/** Threads start with the first job and end after a minute without work. */
export function createThreads({ heapMiB = defaultHeapMiB, longestWaitMs = jobTimeoutMs } = {}): Threads {
  const turns = createTurns({
    what: 'large requests',
    whose: 'the organization',
    maxRunning: shareOf(maxThreads),
    maxTotal: maxThreads,
    maxWaiting,
    waitTimeoutMs: longestWaitMs,
    code: 'unavailable',
  });
  let pool: Piscina | undefined;
  const start = () =>
    new Piscina({
      filename: path.join(packageRoot, 'dist/src/thread.js'),
      minThreads: 0,
      maxThreads,
      idleTimeout: 60_000,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      env: {},
    });
  return {
    async run<Name extends JobName>(
      name: Name,
      input: Input<Name>,
      { owner, timeoutMs = jobTimeoutMs, signal, begun }: JobOptions,
    ): Promise<Result<Name>> {
      const answer = await turns.take(
        owner,
        () => {
          pool ??= start();
          return runIn<Name>(pool, { name, input, timeoutMs, longestWaitMs, signal, begun });
        },
        { signal },
      );
      if ('value' in answer) return answer.value;
      const { code, description, facts } = answer.refused;
      throw new AppError(code, description, facts);
    },
    async close() {
      await pool?.destroy();
    },
  };
}

interface Run<Name extends JobName> extends Pick<JobOptions, 'begun'> {
  name: Name;
  input: Input<Name>;
  timeoutMs: number;
  longestWaitMs: number;
  signal: AbortSignal | undefined;
}

/** A busy machine starts a thread late. The time limit of the job begins when the thread reports that the job does. */
async function runIn<Name extends JobName>(
  pool: Piscina,
  { name, input, timeoutMs, longestWaitMs, signal, begun }: Run<Name>,
): Promise<ThreadAnswer<Result<Name>>> {
  const { port1, port2 } = new MessageChannel();
  const late = new AbortController();
  let hasBegun = false;
  let timer = setTimeout(() => late.abort(), longestWaitMs);
  port1.once('message', () => {
    hasBegun = true;
    clearTimeout(timer);
    timer = setTimeout(() => late.abort(), timeoutMs);
    begun?.();
  });
  const ended = abortWith(late.signal, ...(signal ? [signal] : []));
  const job: ThreadJob<Input<Name>> = { input, begins: port2 };
  try {
    return (await pool.run(job, { name, signal: ended.signal, transferList: [port2] })) as ThreadAnswer<Result<Name>>;
  } catch (cause) {
    if (late.signal.aborted && !hasBegun) throw new AppError('unavailable', 'no thread was free in time', { cause });
    throw new AppError('internal_error', 'the server failed to answer this request', { cause });
  } finally {
    clearTimeout(timer);
    port1.close();
    ended.abort();
  }
}
