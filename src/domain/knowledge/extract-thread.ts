import { parentPort, workerData } from 'node:worker_threads';
import { extract, extractText, UnreadableDocument } from './extract.js';
import type { ThreadAnswer, ThreadInput } from './extract-apart.js';

const { bytes, mimeType, as } = workerData as ThreadInput;

/** A thread extracts only one document, so a parser fault ends the thread and not the worker. */
async function answer(): Promise<ThreadAnswer> {
  try {
    return { value: as === 'chunks' ? await extract(bytes, mimeType) : await extractText(bytes, mimeType) };
  } catch (error) {
    if (error instanceof UnreadableDocument) return { unreadable: error.message };
    if (error instanceof RangeError) return { unreadable: 'the document is nested too deeply' };
    throw error;
  }
}

parentPort?.postMessage(await answer());
