import { z } from 'zod';
import { withDeadline } from '../outbound/deadline.js';
import { isOutboundError } from '../outbound/outbound-error.js';
import type { RerankConfig } from './environment.js';
import { createWatchedFetch } from './watched-fetch.js';

const timeoutMs = 2000;
const maxBytes = 1024 * 1024;

const Answer = z.object({ results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })) });

/** Orders texts by their relevance to a question. Undefined without an endpoint. The question goes on without it. */
export function createReranker(config: RerankConfig | undefined) {
  if (config === undefined) return undefined;
  const { baseUrl, apiKey, model } = config;
  const url = `${baseUrl.replace(/\/+$/, '')}/rerank`;
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
    /** The relevance of each text, in their order; or why the endpoint cannot be used now. */
    async rerank(
      question: string,
      texts: readonly string[],
      signal: AbortSignal = new AbortController().signal,
    ): Promise<{ scores: number[] } | { unavailable: string }> {
      try {
        return await withDeadline({ timeoutMs, signal }, (ended) => ask(question, texts, ended));
      } catch (error) {
        signal.throwIfAborted();
        const isLate = isOutboundError(error) && error.code === 'timeout';
        // The message of another error may hold the address, which the operator alone should see.
        return {
          unavailable: `the reranking endpoint ${isLate ? `did not answer within ${timeoutMs} ms` : 'does not answer'}`,
        };
      }
    },
  };
}

export type Reranker = NonNullable<ReturnType<typeof createReranker>>;
