import { tokensOf } from '../language/tokens.js';
import { datesIn } from './dates.js';

/**
 * The properties of an entity that a question may mention. They are written with the entity, without personal values.
 */
export interface Mentions {
  /** The name and the short values, such as a speaker, as words in lower case joined by spaces. */
  names: string[];
  /** The times among the values, as epoch seconds. */
  times: number[];
  /** The validity in epoch seconds. */
  since: number | null;
  until: number | null;
}

/**
 * Creates a function that returns whether the question names an entity, and whether it names a time of the entity, each
 * as 0 or 1.
 */
export function mentionsIn(question: string): (entity: Mentions) => { names: number; time: number } {
  const isNamed = namesIn(question);
  const dates = datesIn(question);
  return ({ names, times, since, until }) => ({
    names: names.some(isNamed) ? 1 : 0,
    time: dates.some(
      (date) =>
        times.some((time) => date.from <= time && time < date.until) ||
        ((since !== null || until !== null) && (since ?? -Infinity) < date.until && (until ?? Infinity) > date.from),
    )
      ? 1
      : 0,
  });
}

/** A name that fewer entities have says which of them the question is about, so it stays. */
const minCommon = 10;

/**
 * Removes the proper names that many of the found entities have, such as a speaker, from a question before it is
 * embedded. In a vector, such a name outweighs the rest, although it hardly distinguishes the entities (decision 0028).
 */
export function withoutCommonNames(question: string, found: ReadonlyMap<string, Pick<Mentions, 'names'>>): string {
  const isNamed = namesIn(question);
  const counts = new Map<string, number>();
  for (const { names } of found.values())
    for (const name of names.filter(isNamed)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const common = [...counts].filter(([, count]) => count >= minCommon);
  const rest = common.reduce((text, [name]) => text.replaceAll(patternOf(name), keepUnlessProper), question);
  return /\p{L}/u.test(rest) ? rest.replaceAll(/\s+/g, ' ').trim() : question;
}

/** Creates a function that returns whether the question contains all words of a name, next to each other. */
function namesIn(question: string): (name: string) => boolean {
  const questionWords = ` ${tokensOf(question).join(' ')} `;
  return (name) => questionWords.includes(` ${name} `);
}

/** Finds the words of a name, with the s of a genitive. They contain only letters and digits. */
function patternOf(name: string): RegExp {
  const words = name.split(' ').join('[^\\p{L}\\p{N}]+');
  return new RegExp(`(?<![\\p{L}\\p{N}])${words}(?:['’]s)?(?![\\p{L}\\p{N}])`, 'giu');
}

function keepUnlessProper(text: string): string {
  return /^\p{Lu}/u.test(text) ? '' : text;
}
