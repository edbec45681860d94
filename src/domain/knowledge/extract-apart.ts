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

/**
 * Extracts documents in separate threads with limits on time and memory, so that the worker's main thread can send
 * heartbeats.
 */
export function createExtraction(): Extraction {
  const free = Array.from({ length: maxThreads }, () => Promise.resolve());
  let next = 0;
  return async <As extends keyof Extracted>(as: As, bytes: Uint8Array, mimeType: string, signal: AbortSignal) => {
    const turn = (next += 1) % maxThreads;
    const mine = (free[turn] ?? Promise.resolve()).then(() => extractInThread({ bytes, mimeType, as }, signal));
    free[turn] = mine.then(
      () => undefined,
      () => undefined,
    );
    return (await mine) as Extracted[As];
  };
}

async function extractInThread(workerData: ThreadInput, signal: AbortSignal): Promise<Extracted[keyof Extracted]> {
  signal.throwIfAborted();
  const worker = new Worker(thread, { workerData, resourceLimits: { maxOldGenerationSizeMb: heapMiB }, env: {} });
  const late = setTimeout(() => void worker.terminate(), maxMs);
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop);
  try {
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      worker
        .once('message', resolve)
        .once('error', reject)
        .once('exit', () => reject(unreadable(`the extraction took longer than ${maxMs / 1000} s`)));
    });
    if ('unreadable' in answer) throw unreadable(answer.unreadable);
    return answer.value;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw unreadable('the extraction needs too much memory');
    throw error;
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

function unreadable(why: string): AppError {
  return new AppError('validation_failed', why);
}
