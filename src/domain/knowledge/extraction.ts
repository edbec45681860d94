import { abortWith } from '../../base/async.js';
import { AppError, isAppError } from '../../base/errors.js';
import { createTurns } from '../../base/turns.js';
import { createThreads } from '../../threads/threads.js';
import type { Chunk } from './chunks.js';

export interface Extracted {
  chunks: Chunk[];
  text: string;
}

export interface DocumentInput {
  bytes: Uint8Array;
  mimeType: string;
  as: keyof Extracted;
}

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    extractDocument(input: DocumentInput): Promise<Extracted[keyof Extracted]>;
  }
}

interface ExtractionOptions {
  /** The organization of the document. */
  owner: string;
  signal: AbortSignal;
}

/** @throws AppError `validation_failed` for a document that cannot be read within the limits */
export type Extraction = <As extends keyof Extracted>(
  as: As,
  bytes: Uint8Array,
  mimeType: string,
  options: ExtractionOptions,
) => Promise<Extracted[As]>;

const firstMs = 30_000;
const longestMs = 180_000;
const heapMiB = 1024;
/** The buffers of a parser are outside the heap of its thread: 1 MB of a compressed PDF can take 1 GB. */
const defaultGrowthMiB = heapMiB + 512;
/** The work waits in the worker for as long as the time limits of its activity allow. */
const longestWaitMs = 10 * 60_000;

/**
 * Extracts documents in threads with limits on time and memory, so that the worker's main thread can send heartbeats.
 * A document that takes longer than 30 s is stopped and begun again with more time. Only one document at a time gets
 * more time, so the other thread stays free for short ones.
 * `maxGrowthMiB` limits the growth of the whole process, so a document is refused only if it is the only one.
 */
export function createExtraction(maxGrowthMiB = defaultGrowthMiB): Extraction {
  const threads = createThreads({ heapMiB, longestWaitMs });
  const long = createTurns({
    ...{ what: 'documents that take long', whose: 'the organization' },
    ...{ maxRunning: 1, maxTotal: 1, maxWaiting: 100, waitTimeoutMs: longestWaitMs },
  });
  let running = 0;

  /** @throws AppError; the given error if the time is over */
  async function attempt(
    input: DocumentInput,
    { owner, signal }: ExtractionOptions,
    timeoutMs: number,
    late: AppError,
  ) {
    signal.throwIfAborted();
    const stop = abortWith(signal);
    let problem: AppError | undefined;
    let end = () => {};
    const begun = () => {
      running += 1;
      const before = process.memoryUsage.rss();
      const watch = setInterval(() => {
        if (process.memoryUsage.rss() - before <= maxGrowthMiB * 1024 * 1024) return;
        problem ??= running === 1 ? unreadable(tooMuchMemory) : otherMemory();
        stop.abort();
      }, 100);
      end = () => {
        running -= 1;
        clearInterval(watch);
      };
    };
    try {
      return await threads.run('extractDocument', input, { owner, timeoutMs, signal: stop.signal, begun });
    } catch (error) {
      signal.throwIfAborted();
      throw problem ?? problemOf(error, late);
    } finally {
      end();
      stop.abort();
    }
  }

  return async <As extends keyof Extracted>(
    as: As,
    bytes: Uint8Array,
    mimeType: string,
    options: ExtractionOptions,
  ) => {
    const input = { bytes, mimeType, as };
    const slow = new AppError('unavailable', 'the extraction takes long');
    const extracted = await attempt(input, options, firstMs, slow).catch((error: unknown) => {
      if (error !== slow) throw error;
      const tooSlow = unreadable(`the extraction took longer than ${longestMs / 1000} s`);
      return long.take(options.owner, () => attempt(input, options, longestMs, tooSlow), { signal: options.signal });
    });
    return extracted as Extracted[As];
  };
}

/** Threads report how they ended as the cause of an internal error. */
function problemOf(error: unknown, late: AppError): unknown {
  if (!isAppError(error) || !(error.cause instanceof Error)) return error;
  const { cause } = error;
  if (cause.name === 'AbortError') return late;
  return 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY' ? unreadable(tooMuchMemory) : error;
}

const tooMuchMemory = 'the extraction needs too much memory';

function otherMemory(): AppError {
  return new AppError('unavailable', 'the documents that are read at the same time need too much memory');
}

function unreadable(why: string): AppError {
  return new AppError('validation_failed', why);
}
