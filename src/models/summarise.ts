import { LRUCache } from 'lru-cache';

/** Creates extractive summaries: picks the sentences with the most significant words and invents nothing. */
export interface Source {
  name: string;
  text: string;
}

export interface PickedSentence {
  source: string;
  text: string;
}

const maxInputLength = 60_000;
const maxSentenceLength = 400;
const stopWords: ReadonlySet<string> = new Set(
  `a about above after again all also an and any are as at be because been before being below between both but by can
  could did do does down each few for from further had has have he her here hers him his how i if in into is it its just
  may me more most must my no nor not now of off on once one only or other our out over own same shall she should so some
  such than that the their them then there these they this those through to too under until up upon very was we were what
  when where which while who whom why will with would you your`.split(/\s+/),
);
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const words = new Intl.Segmenter('en', { granularity: 'word' });

interface Sentence {
  text: string;
  words: ReadonlySet<string>;
}

/**
 * Caches parsed texts, because each agent of a run reads the outputs of all earlier ones again. The size is in
 * characters of text.
 */
const read = new LRUCache<string, Sentence[]>({ maxSize: 500_000, sizeCalculation: (_, text) => text.length + 1 });

/**
 * Picks up to `count` sentences from all sources together and returns them in text order. Words of the goal weigh
 * more. The earlier sentence wins a tie, so the result is deterministic.
 */
export function pickSentences(sources: readonly Source[], goal: string, count: number): PickedSentence[] {
  const share = Math.floor(maxInputLength / Math.max(sources.length, 1));
  const seen = new Set<string>();
  const candidates = sources
    .flatMap(({ name, text }) => readSentences(text.slice(0, share)).map((sentence) => ({ ...sentence, source: name })))
    .filter(({ text }) => !seen.has(text) && seen.add(text))
    .map((sentence, index) => ({ ...sentence, index }))
    .filter((sentence) => sentence.words.size > 0);
  const goalWords = contentWords(goal);
  const weights = new Map<string, number>();
  for (const candidate of candidates)
    for (const word of candidate.words) weights.set(word, (weights.get(word) ?? 0) + 1);
  const weightOf = (word: string) =>
    Math.log2(1 + (weights.get(word) ?? 0)) * (goalWords.has(word) ? 3 : 1) + (/\d/.test(word) ? 1 : 0);
  return candidates
    .map((candidate) => ({ ...candidate, score: scoreOf(candidate.words, weightOf) }))
    .sort((one, other) => other.score - one.score || one.index - other.index)
    .slice(0, count)
    .sort((one, other) => one.index - other.index)
    .map(({ source, text }) => ({ source, text }));
}

function readSentences(text: string): Sentence[] {
  const known = read.get(text);
  if (known) return known;
  const found = sentencesOf(text).map((sentence) => ({ text: sentence, words: contentWords(sentence) }));
  read.set(text, found);
  return found;
}

function scoreOf(present: ReadonlySet<string>, weightOf: (word: string) => number): number {
  let sum = 0;
  for (const word of present) sum += weightOf(word);
  // A compromise: the sum favours long sentences, the mean favours fragments.
  return sum / (present.size + 5) ** 0.75;
}

function contentWords(text: string): Set<string> {
  const found = new Set<string>();
  for (const { segment, isWordLike } of words.segment(text)) {
    const word = segment.toLowerCase();
    if (isWordLike && !stopWords.has(word) && (word.length > 1 || /[^a-z]/.test(word))) found.add(word);
  }
  return found;
}

function sentencesOf(text: string): string[] {
  return paragraphsOf(text).flatMap((paragraph) =>
    Array.from(sentences.segment(paragraph), ({ segment }) => segment.trim())
      .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
      .map(truncated),
  );
}

/**
 * Returns the paragraphs without Markdown syntax. Omits headings, quotes and code. Each list item or table row is its
 * own paragraph.
 */
function paragraphsOf(text: string): string[] {
  const paragraphs: string[] = [];
  let isOpen = false;
  let isCode = false;
  for (const line of text.split(/\r?\n/)) {
    const content = line.trim();
    const isItem = /^(\||([-*+]|\d+[.)])(\s|$))/.test(content);
    const isFence = /^(```|~~~)/.test(content);
    if (isFence) isCode = !isCode;
    if (isFence || isCode || content === '' || /^(#|>|[-=*_|: ]+$)/.test(content)) isOpen = false;
    else if (isItem || !isOpen) {
      paragraphs.push(stripMarkdown(content));
      isOpen = true;
    } else paragraphs.push(`${paragraphs.pop() ?? ''} ${stripMarkdown(content)}`);
  }
  return paragraphs;
}

function stripMarkdown(line: string): string {
  const text = line.replace(/\s+/g, ' ').replace(/^([-*+]|\d+[.)]) /, '');
  const cells = text.startsWith('|') ? text.replace(/^\| ?| ?\|$/g, '').replace(/ ?\| ?/g, ', ') : text;
  return cells.replace(/\*\*|__|`/g, '').trim();
}

function truncated(sentence: string): string {
  return sentence.length <= maxSentenceLength ? sentence : `${sentence.slice(0, maxSentenceLength - 1).trimEnd()}…`;
}
