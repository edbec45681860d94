import { tokensOf } from '../language/tokens.js';
import { scopeTerm } from '../store/names.js';

/** Words of a question that do not describe its subject. The index ignores articles and similar words itself. */
const askingWords = new Set(
  'what who whom whose which when where why how is are was were do does did can could should would will shall has have had me my we our you your it its he she they them their about tell show list find give get any all please many much there s t'.split(
    ' ',
  ),
);
const maxWords = 32;
/** The relative weight of a phrase, which consists of two adjacent words of the question. */
const phraseWeight = 0.3;

/** A word of a full-text query, and the weight of a match relative to a word of the question. */
export interface Term {
  word: string;
  weight: number;
}

/** Returns the distinct words of a question that describe its subject. */
export function wordsOf(text: string): string[] {
  const words = [...new Set(tokensOf(text))];
  const significant = words.filter(isSignificant);
  return (significant.length > 0 ? significant : words).slice(0, maxWords);
}

export function isSignificant(word: string): boolean {
  return !askingWords.has(word);
}

/** Returns the pairs of significant words that follow each other in the question. */
export function phrasesOf(text: string): [string, string][] {
  const words = tokensOf(text).filter(isSignificant).slice(0, maxWords);
  return words.slice(1).map((word, at) => [words[at] ?? '', word]);
}

const isIdeograph = /^\p{Script=Han}$/u;

/** The index has pairs of Chinese and Japanese characters, so a word of one character finds the pairs that it begins. */
function searched(word: string): string {
  return isIdeograph.test(word) ? `${word}*` : word;
}

/**
 * Builds the Lucene query. A required scope term without a score excludes elements of other projects early. A match in
 * the name counts as well as one in the text, which contains the name.
 */
export function luceneQuery(
  terms: readonly Term[],
  phrases: readonly (readonly [string, string])[],
  projectIds: readonly string[],
): string {
  const scope = projectIds.map(scopeTerm).join(' ');
  const questionWords = terms.filter(({ weight }) => weight === 1).map(({ word }) => searched(word));
  const any = terms
    .map(({ word, weight }) => (weight === 1 ? searched(word) : `${searched(word)}^${weight.toFixed(3)}`))
    .join(' ');
  const near = phrases.map((phrase) => `_words:"${phrase.join(' ')}"~1^${phraseWeight}`).join(' ');
  return `+_scope:(${scope})^0 +(_title:(${questionWords.join(' ')}) _words:(${any}) ${near})`;
}
