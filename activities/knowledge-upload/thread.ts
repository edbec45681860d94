import { parentPort, workerData } from 'node:worker_threads';
import { extract, UnreadableDocument } from './extract.js';
import type { ThreadAnswer } from './extract-apart.js';

const { bytes, mimeType } = workerData as { bytes: Uint8Array; mimeType: string };

/** A thread's whole life is one document: a fault in a parser ends the thread and not the worker. */
async function answer(): Promise<ThreadAnswer> {
  try {
    return { chunks: await extract(bytes, mimeType) };
  } catch (error) {
    if (error instanceof UnreadableDocument) return { unreadable: error.message };
    if (error instanceof RangeError) return { unreadable: 'the document is nested too deep' };
    throw error;
  }
}

parentPort?.postMessage(await answer());
