import path from 'node:path';
import { Piscina } from 'piscina';
import { abortWith } from '../abort-with.js';
import type { ErrorCode } from '../error-catalog.js';
import { AppError, type ErrorFacts } from '../errors.js';
import type { McpOutput } from '../outbound/mcp-output.js';
import { packageRoot } from '../package-root.js';
import { createTurns, shareOf } from '../turns.js';

/**
 * The jobs of `src/thread.ts`. Each caller declares its own jobs next to its code (declaration merging,
 * docs/decisions/0069).
 */
export interface ThreadJobs {
  redactAnswer(answer: unknown): unknown;
  hideSecrets(answer: unknown): unknown;
  problemOfOutput(output: McpOutput): string | undefined;
}

type JobName = keyof ThreadJobs;
type Input<Name extends JobName> = Parameters<ThreadJobs[Name]>[0];
type Result<Name extends JobName> = Awaited<ReturnType<ThreadJobs[Name]>>;

/** Returns refusals as data, because an error loses its class and code when it leaves a thread. */
export type ThreadAnswer<T> = { value: T } | { refused: { code: ErrorCode; description: string; facts: ErrorFacts } };

interface JobOptions {
  /** Whose job it is: an organization, or the name of the job if nobody is known yet. Each owner runs one at a time. */
  owner: string;
  /** The longest time that the job runs; 20 seconds if omitted. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called when a thread takes the job. */
  begun?: () => void;
}

/** Runs work in threads of this process that would otherwise block the event loop. */
export interface Threads {
  /**
   * Runs a job in a thread. A job that exceeds its time or memory limit ends together with its thread.
   * @throws AppError as the job does; `unavailable` if too many jobs of the owner wait; `internal_error` for any other failure
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
          begun?.();
          const ended = abortWith(AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : []));
          const job = pool.run(input, { name, signal: ended.signal }) as Promise<ThreadAnswer<Result<Name>>>;
          return answerOf(job).finally(() => ended.abort());
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

async function answerOf<T>(job: Promise<ThreadAnswer<T>>): Promise<ThreadAnswer<T>> {
  try {
    return await job;
  } catch (cause) {
    throw new AppError('internal_error', 'the server failed to answer this request', { cause });
  }
}
