import { LRUCache } from 'lru-cache';
import { isAppError } from '../base/errors.js';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError } from '../outbound/outbound-error.js';
import { isRefusedText, type Embedder, type EmbeddingModel } from './embedder.js';

/** A search waits no longer than this for a vector. Then it uses text alone. */
const questionTimeoutMs = 3000;
/**
 * After a failure, questions of the same owner to the same model do not wait for the endpoint for this time. An owner may
 * fail alone, because its own questions fill its line.
 */
const pauseMs = 5000;

interface QuestionKeys {
  failure: string;
  question: string;
  ofOwner: string;
}

/**
 * Returns the vector of a question. Caches the last ones, because clients repeat questions. A caller cannot affect the
 * results of other callers, who may be other tenants: aborting a call does not abort its shared request, a refused
 * question does not affect the next one, and a failure does not affect other owners.
 */
export function createQuestionVector(embedder: Embedder) {
  const known = new LRUCache<string, readonly number[]>({ max: 500 });
  const inFlight = new Map<string, Promise<readonly number[]>>();
  const failures = new LRUCache<string, Error>({ max: 1000, ttl: pauseMs });

  async function ask(question: string, as: EmbeddingModel, owner: string, keys: QuestionKeys) {
    try {
      const { signal } = new AbortController();
      const { vectors } = await embedder.embed([question], { signal, timeoutMs: questionTimeoutMs, as, owner });
      failures.delete(keys.failure);
      known.set(keys.question, vectors[0] ?? []);
      return vectors[0] ?? [];
    } catch (error) {
      if (isFailure(error) && !isRefusedText(error)) failures.set(keys.failure, error);
      throw error;
    } finally {
      inFlight.delete(keys.ofOwner);
    }
  }

  return async (
    question: string,
    { model, dimensions }: EmbeddingModel,
    { owner = '', signal = new AbortController().signal }: { owner?: string; signal?: AbortSignal | undefined } = {},
  ): Promise<readonly number[]> => {
    const as = { model, dimensions };
    const keys = {
      failure: JSON.stringify([owner, as]),
      question: JSON.stringify([as, question]),
      ofOwner: JSON.stringify([owner, as, question]),
    };
    const before = known.get(keys.question);
    if (before) return before;
    const failure = failures.get(keys.failure);
    if (failure) throw failure;
    const answer = inFlight.get(keys.ofOwner) ?? ask(question, as, owner, keys);
    inFlight.set(keys.ofOwner, answer);
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
