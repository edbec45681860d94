import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../src/errors.js';
import { packageRoot } from '../../src/package-root.js';
import type { Chunk } from './chunks.js';

export type ThreadAnswer = { chunks: Chunk[] } | { unreadable: string };

const thread = path.join(packageRoot, 'dist/activities/knowledge-upload/thread.js');
const longestMs = 180_000;
const heapMiB = 1024;
const threadsAtOnce = 2;

/** Extraction in threads of their own: bounded in time and memory, while the worker's own thread goes on beating. */
export function createExtraction() {
  const free = Array.from({ length: threadsAtOnce }, () => Promise.resolve());
  let next = 0;
  return async (bytes: Uint8Array, mimeType: string, signal: AbortSignal): Promise<Chunk[]> => {
    const turn = (next += 1) % threadsAtOnce;
    const mine = (free[turn] ?? Promise.resolve()).then(() => extractApart(bytes, mimeType, signal));
    free[turn] = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  };
}

/** @throws AppError `validation_failed` for a document that cannot be read within the bounds */
async function extractApart(bytes: Uint8Array, mimeType: string, signal: AbortSignal): Promise<Chunk[]> {
  signal.throwIfAborted();
  const worker = new Worker(thread, { workerData: { bytes, mimeType }, resourceLimits: { maxOldGenerationSizeMb: heapMiB }, env: {} });
  const late = setTimeout(() => void worker.terminate(), longestMs);
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop);
  try {
    const answer = await new Promise<ThreadAnswer>((resolve, reject) => {
      worker.once('message', resolve).once('error', reject).once('exit', () => reject(unreadable(`reading it took longer than ${longestMs / 1000} s`)));
    });
    if ('unreadable' in answer) throw unreadable(answer.unreadable);
    return answer.chunks;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') throw unreadable('reading it takes too much memory');
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
