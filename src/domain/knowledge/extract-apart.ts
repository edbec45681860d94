import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../errors.js';
import { packageRoot } from '../../package-root.js';
import type { Chunk } from './chunks.js';

interface Extracted {
  chunks: Chunk[];
  text: string;
}

export interface ThreadInput {
  bytes: Uint8Array;
  mimeType: string;
  as: keyof Extracted;
}

export type ThreadAnswer = { value: Extracted[keyof Extracted] } | { unreadable: string };

/** @throws AppError `validation_failed` for a document that cannot be read within the limits */
export type Extraction = <As extends keyof Extracted>(
  as: As,
  bytes: Uint8Array,
  mimeType: string,
  signal: AbortSignal,
) => Promise<Extracted[As]>;

const thread = path.join(packageRoot, 'dist/src/domain/knowledge/extract-thread.js');
const maxMs = 180_000;
const heapMiB = 1024;
const maxThreads = 2;
/** The buffers of a parser are outside the heap of its thread: 1 MB of a compressed PDF can take 1 GB. */
const defaultGrowthMiB = heapMiB + 512;

/**
 * Extracts documents in separate threads with limits on time and memory, so that the worker's main thread can send
 * heartbeats. `maxGrowthMiB` limits the growth of the whole process, so a document is refused only if it is the only one.
 */
export function createExtraction(maxGrowthMiB = defaultGrowthMiB): Extraction {
  const free = Array.from({ length: maxThreads }, () => Promise.resolve());
  let next = 0;
  let running = 0;
  const memory = {
    isTooLarge: (before: number) => process.memoryUsage.rss() - before > maxGrowthMiB * 1024 * 1024,
    problem: () =>
      running === 1
        ? unreadable(tooMuchMemory)
        : new AppError('unavailable', 'the documents that are read at the same time need too much memory'),
  };
  const extract = async (input: ThreadInput, signal: AbortSignal) => {
    running += 1;
    return extractInThread(input, memory, signal).finally(() => (running -= 1));
  };
  return async <As extends keyof Extracted>(as: As, bytes: Uint8Array, mimeType: string, signal: AbortSignal) => {
    const turn = (next += 1) % maxThreads;
    const mine = (free[turn] ?? Promise.resolve()).then(() => extract({ bytes, mimeType, as }, signal));
    free[turn] = mine.then(
      () => undefined,
      () => undefined,
    );
    return (await mine) as Extracted[As];
  };
}

interface Memory {
  isTooLarge(before: number): boolean;
  problem(): AppError;
}

async function extractInThread(
  workerData: ThreadInput,
  memory: Memory,
  signal: AbortSignal,
): Promise<Extracted[keyof Extracted]> {
  signal.throwIfAborted();
  let problem = unreadable(`the extraction took longer than ${maxMs / 1000} s`);
  const before = process.memoryUsage.rss();
  const worker = new Worker(thread, { workerData, resourceLimits: { maxOldGenerationSizeMb: heapMiB }, env: {} });
  const late = setTimeout(() => void worker.terminate(), maxMs);
  const watch = setInterval(() => {
    if (!memory.isTooLarge(before)) return;
    clearInterval(watch);
    problem = memory.problem();
    void worker.terminate();
  }, 100);
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop);
  try {
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      worker
        .once('message', resolve)
        .once('error', reject)
        .once('exit', () => reject(problem));
    });
    if ('unreadable' in answer) throw unreadable(answer.unreadable);
    return answer.value;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw unreadable(tooMuchMemory);
    throw error;
  } finally {
    clearTimeout(late);
    clearInterval(watch);
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

const tooMuchMemory = 'the extraction needs too much memory';

function unreadable(why: string): AppError {
  return new AppError('validation_failed', why);
}
