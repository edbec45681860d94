import { z } from 'zod';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError } from '../outbound/outbound-error.js';
import type { RerankConfig } from './environment.js';
import { createWatchedFetch } from './watched-fetch.js';
import { withoutTrailing } from '../base/text.js';

/** After this many consecutive questions without an answer in time, the endpoint is not used for `pauseMs`. */
const maxLate = 3;
const maxBytes = 1024 * 1024;

const Answer = z.object({ results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })) });

/**
 * Orders texts by their relevance to a question. Undefined without an endpoint. A question that gets no answer keeps its own
 * order. An endpoint that hangs does not delay every question: after a pause, only one question tries it again.
 */
export function createReranker(config: RerankConfig | undefined, { timeoutMs = 2000, pauseMs = 30_000 } = {}) {
  if (config === undefined) return undefined;
  const { baseUrl, apiKey, model } = config;
  const url = `${withoutTrailing(baseUrl, '/')}/rerank`;
  let late = 0;
  let pausedUntil = 0;
  const send = createWatchedFetch({ idleMs: timeoutMs, maxBytes, maxEventBytes: maxBytes });

  async function ask(question: string, texts: readonly string[], signal: AbortSignal) {
    const response = await send(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, query: question, documents: texts, top_n: texts.length, return_documents: false }),
      redirect: 'error',
      signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      return { unavailable: `the reranking endpoint answered ${response.status}` };
    }
    const answer = Answer.safeParse(await response.json());
    const results = answer.data?.results.filter(({ index }) => index < texts.length) ?? [];
    if (results.length === 0) return { unavailable: 'the reranking endpoint returned no usable scores' };
    const scores = texts.map(() => -Infinity);
    for (const { index, relevance_score: score } of results) scores[index] = score;
    return { scores };
  }

  return {
    model,
    /** The relevance of each text, in the order of the texts, or why the endpoint cannot be used now. */
    async rerank(
      question: string,
      texts: readonly string[],
      signal: AbortSignal = new AbortController().signal,
    ): Promise<{ scores: number[] } | { unavailable: string }> {
      if (performance.now() < pausedUntil)
        return {
          unavailable: `the reranking endpoint is not used for ${pauseMs / 1000} s, because ${maxLate} consecutive questions got no answer in time`,
        };
      const pause = () => (pausedUntil = late < maxLate ? 0 : performance.now() + pauseMs);
      // While this question tries the endpoint after a pause, other questions do not wait for it.
      pause();
      try {
        const answer = await withDeadline({ timeoutMs, signal }, (ended) => ask(question, texts, ended));
        late = 0;
        pause();
        return answer;
      } catch (error) {
        signal.throwIfAborted();
        const isLate = isOutboundError(error) && error.code === 'timeout';
        late = isLate ? late + 1 : 0;
        pause();
        // The message of other errors can contain the address of the endpoint, which only the operator may see.
        return {
          unavailable: `the reranking endpoint ${isLate ? `did not answer within ${timeoutMs} ms` : 'does not answer'}`,
        };
      }
    },
  };
}

export type Reranker = NonNullable<ReturnType<typeof createReranker>>;
