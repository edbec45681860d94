import { LRUCache } from 'lru-cache';
import { isAppError } from '../errors.js';
import { isOutboundError } from '../outbound/outbound-error.js';
import type { Embedder, EmbeddingModel } from './embedder.js';

/** A search waits for a vector no longer than this, and then uses text alone. */
const questionTimeoutMs = 3000;
/** After a failure, questions do not wait for the endpoint for this long. */
const pauseMs = 5000;

/** Returns the vector of a question. Keeps the last ones, because clients repeat questions. */
export function createQuestionVector(embedder: Embedder) {
  const known = new LRUCache<string, readonly number[]>({ max: 500 });
  let failure: { error: unknown; until: number } | undefined;
  return async (
    question: string,
    { model, dimensions }: EmbeddingModel,
    signal = new AbortController().signal,
  ): Promise<readonly number[]> => {
    const key = JSON.stringify([model, dimensions, question]);
    const before = known.get(key);
    if (before) return before;
    if (failure && Date.now() < failure.until) throw failure.error;
    try {
      const as = { model, dimensions };
      const { vectors } = await embedder.embed([question], { signal, timeoutMs: questionTimeoutMs, as });
      const vector = vectors[0] ?? [];
      known.set(key, vector);
      failure = undefined;
      return vector;
    } catch (error) {
      if (reasonOf(error) !== undefined && !signal.aborted) failure = { error, until: Date.now() + pauseMs };
      throw error;
    }
  };
}

/** Why the endpoint gave no vector; undefined for an error of another kind. */
export function reasonOf(error: unknown): string | undefined {
  return isOutboundError(error) || isAppError(error) ? error.message : undefined;
}
