import type { ManagedTransaction } from 'neo4j-driver';
import type { Ranked } from './rank.js';
import { tokensOf } from '../language/tokens.js';
import { readTexts } from './texts.js';
import { isSignificant, type Term } from './words.js';

/** With fewer hits, their common words are not significant, and the first search already answers the question. */
const minHits = 10;
const readHits = 200;
const maxText = 1000;
const bestHits = 20;
const maxTerms = 30;
/** A word in more than this share of the hits is omitted. */
const commonShare = 0.5;
/** The weight of the best new word, relative to a word of the question. */
const maxWeight = 0.3;

/**
 * Returns the words for a second search: those that the best hits share and the other hits do not. They find further
 * evidence that does not repeat the words of the question (relevance feedback, Lavrenko and Croft 2001). The parameters
 * were chosen by measurement (decision 0028).
 */
export async function feedbackTerms(
  tx: ManagedTransaction,
  ranked: readonly Ranked[],
  questionWords: readonly string[],
): Promise<Term[]> {
  if (ranked.filter(({ parts }) => parts.text + parts.vector > 0).length < minHits) return [];
  const texts = await readTexts(tx, ranked.slice(0, readHits), maxText);
  return termsOf(
    texts.map((text, at) => ({ text, score: ranked[at]?.score ?? 0 })),
    questionWords,
  );
}

/**
 * Selects the words.
 * @param hits sorted by score
 */
export function termsOf(hits: readonly { text: string; score: number }[], questionWords: readonly string[]): Term[] {
  const words = hits.map(({ text }) => new Set(tokensOf(text)));
  const found = new Map<string, number>();
  for (const each of words) for (const word of each) found.set(word, (found.get(word) ?? 0) + 1);
  const sums = new Map<string, { sum: number; hits: number }>();
  for (const [at, each] of words.slice(0, bestHits).entries()) {
    for (const word of each) {
      if (word.length < 2 || !isSignificant(word)) continue;
      const known = sums.get(word) ?? { sum: 0, hits: 0 };
      const rarity = Math.log(1 + (hits.length - (found.get(word) ?? 0) + 0.5) / ((found.get(word) ?? 0) + 0.5));
      sums.set(word, { sum: known.sum + (hits[at]?.score ?? 0) * rarity, hits: known.hits + 1 });
    }
  }
  const isInQuestion = new Set(questionWords);
  // Such a word does not narrow the search, because it matches much of the graph.
  const isCommon = (word: string) => (found.get(word) ?? 0) > hits.length * commonShare;
  const best = [...sums]
    .filter(([word, { hits: count }]) => count > 1 && !isInQuestion.has(word) && !isCommon(word))
    .sort(([a, { sum: x }], [b, { sum: y }]) => y - x || (a < b ? -1 : 1))
    .slice(0, maxTerms);
  const top = best[0]?.[1].sum ?? 1;
  return best.map(([word, { sum }]) => ({ word, weight: (maxWeight * sum) / top }));
}
