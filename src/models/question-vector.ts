import { LRUCache } from 'lru-cache';
import { isAppError } from '../errors.js';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError } from '../outbound/outbound-error.js';
import { isRefusedText, type Embedder, type EmbeddingModel } from './embedder.js';

/** A search waits no longer than this for a vector. Then it uses text alone. */
const questionTimeoutMs = 3000;
/** After a failure, questions to the same model do not wait for the endpoint for this time. */
const pauseMs = 5000;

/**
 * Returns the vector of a question. Caches the last ones, because clients repeat questions. A caller cannot affect the
 * results of other callers, who may be other tenants: aborting a call does not abort its shared request, and a refused
 * question does not affect the next one.
 */
export function createQuestionVector(embedder: Embedder) {
  const known = new LRUCache<string, readonly number[]>({ max: 500 });
  const inFlight = new Map<string, Promise<readonly number[]>>();
  const failures = new LRUCache<string, Error>({ max: 100, ttl: pauseMs });

  async function ask(question: string, as: EmbeddingModel, keys: { model: string; question: string }) {
    try {
      const { signal } = new AbortController();
      const { vectors } = await embedder.embed([question], { signal, timeoutMs: questionTimeoutMs, as });
      failures.delete(keys.model);
      known.set(keys.question, vectors[0] ?? []);
      return vectors[0] ?? [];
    } catch (error) {
      if (isFailure(error) && !isRefusedText(error)) failures.set(keys.model, error);
      throw error;
    } finally {
      inFlight.delete(keys.question);
    }
  }

  return async (
    question: string,
    { model, dimensions }: EmbeddingModel,
    signal = new AbortController().signal,
  ): Promise<readonly number[]> => {
    const as = { model, dimensions };
    const keys = { model: JSON.stringify(as), question: JSON.stringify([as, question]) };
    const before = known.get(keys.question);
    if (before) return before;
    const failure = failures.get(keys.model);
    if (failure) throw failure;
    const answer = inFlight.get(keys.question) ?? ask(question, as, keys);
    inFlight.set(keys.question, answer);
    return withDeadline({ timeoutMs: questionTimeoutMs, signal }, () => answer);
  };
}

/** Returns why the endpoint returned no vector, or undefined for an error of another kind. */
export function reasonOf(error: unknown): string | undefined {
  return isFailure(error) ? error.message : undefined;
}

function isFailure(error: unknown): error is Error {
  return isOutboundError(error) || isAppError(error);
}
