import path from 'node:path';
import { Piscina } from 'piscina';
import type { ErrorCode } from '../error-catalog.js';
import { AppError, type ErrorFacts } from '../errors.js';
import type { McpOutput } from '../outbound/mcp-output.js';
import { packageRoot } from '../package-root.js';

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

/** Runs work in threads of this process that would otherwise block the event loop. */
export interface Threads {
  /**
   * Runs a job in a thread. A job that exceeds its time or memory limit ends together with its thread.
   * @param timeoutMs the maximum time of the job, which includes the wait for a thread; 20 seconds if omitted
   * @throws AppError as the job does; `unavailable` if too many jobs wait; `internal_error` for any other failure
   */
  run<Name extends JobName>(name: Name, input: Input<Name>, timeoutMs?: number): Promise<Result<Name>>;
  close(): Promise<void>;
}

const jobTimeoutMs = 20_000;
const heapMiB = 512;
const maxWaiting = 200;

/** Threads start with the first job and end after a minute without work. */
export function createThreads(): Threads {
  let pool: Piscina | undefined;
  const start = () =>
    new Piscina({
      filename: path.join(packageRoot, 'dist/src/thread.js'),
      minThreads: 0,
      maxThreads: 2,
      idleTimeout: 60_000,
      maxQueue: maxWaiting,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      env: {},
    });
  return {
    async run<Name extends JobName>(name: Name, input: Input<Name>, timeoutMs = jobTimeoutMs): Promise<Result<Name>> {
      pool ??= start();
      if (pool.queueSize >= maxWaiting)
        throw new AppError('unavailable', 'too many large requests are being processed', { retryAfterSeconds: 1 });
      const job = pool.run(input, { name, signal: AbortSignal.timeout(timeoutMs) });
      const answer = await answerOf(job as Promise<ThreadAnswer<Result<Name>>>);
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
