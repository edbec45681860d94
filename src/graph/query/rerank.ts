import type { ManagedTransaction } from 'neo4j-driver';
import { relativeToBest, type Ranked } from './rank.js';
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
/**
 * The maximum that the relevance of the endpoint adds to the score of the search, which is at most 1. The endpoint sees
 * single texts. Names, times and neighbours are known only to the search, so its score still counts (decision 0028).
 */
const relevanceWeight = 0.5;

/** Adds the relevance that the endpoint returns to the best scores. If it does not respond in time, the order does not change. */
export async function rerank(
  read: <T>(work: (tx: ManagedTransaction) => Promise<T>) => Promise<T>,
  reranker: Reranker,
  ranked: Ranked[],
  { text, signal }: { text: string; signal?: AbortSignal },
): Promise<Reranked> {
  const best = ranked.slice(0, maxDocuments);
  if (best.length < 2) return { ranked, unavailable: 'there is nothing to order' };
  const texts = await read((tx) => readTexts(tx, best, maxText));
  const answer = await reranker.rerank(text, texts, signal);
  if ('unavailable' in answer) return { ranked, unavailable: answer.unavailable };
  const relevance = scaled(answer.scores);
  const added = ranked.map((each, at) => ({ ...each, score: each.score + relevanceWeight * (relevance[at] ?? 0) }));
  return { ranked: relativeToBest(added.sort((a, b) => b.score - a.score)), model: reranker.model };
}

/** Scales relevances from the last (0) to the best (1), because each model has its own range. Texts without one get 0. */
function scaled(relevances: readonly number[]): number[] {
  const given = relevances.filter(Number.isFinite);
  const least = Math.min(...given);
  const range = Math.max(...given) - least;
  return relevances.map((each) => (Number.isFinite(each) && range > 0 ? (each - least) / range : 0));
}
