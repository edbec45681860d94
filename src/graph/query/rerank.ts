import type { ManagedTransaction } from 'neo4j-driver';
import type { Ranked } from './rank.js';
import { readTexts } from './texts.js';

/** Orders texts by their relevance to a question (src/models/reranker.ts). */
export interface Reranker {
  model: string;
  /** Returns the relevance of each text in the order of the texts, or the reason why the endpoint is not available. */
  rerank(
    question: string,
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ scores: number[] } | { unavailable: string }>;
}

export type Reranked = { ranked: Ranked[]; model: string } | { ranked: Ranked[]; unavailable: string };

/** The number of best entities that are sent to the endpoint. The others follow in their previous order. */
const maxDocuments = 50;
const maxText = 2000;

/** Sorts the best entities in the order of the endpoint. If it does not respond in time, the order does not change. */
export async function rerank(
  tx: ManagedTransaction,
  reranker: Reranker | undefined,
  ranked: Ranked[],
  { text, signal }: { text: string; signal?: AbortSignal },
): Promise<Reranked> {
  if (!reranker) return { ranked, unavailable: 'no reranking endpoint is configured' };
  const best = ranked.slice(0, maxDocuments);
  if (best.length < 2) return { ranked, unavailable: 'there is nothing to order' };
  const answer = await reranker.rerank(text, await readTexts(tx, best, maxText), signal);
  if ('unavailable' in answer) return { ranked, unavailable: answer.unavailable };
  const ordered = best
    .map((each, at) => ({ each, relevance: answer.scores[at] ?? -Infinity, at }))
    .sort((a, b) => b.relevance - a.relevance || a.at - b.at)
    .map(({ each }) => each);
  return { ranked: withFallingScores([...ordered, ...ranked.slice(best.length)]), model: reranker.model };
}

/** Replaces the scores by values that fall from 1, in the given order. */
function withFallingScores(ranked: readonly Ranked[]): Ranked[] {
  return ranked.map((each, at) => ({ ...each, score: Number((1 / (1 + at)).toFixed(6)) }));
}
