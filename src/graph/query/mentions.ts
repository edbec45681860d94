import { tokensOf } from '../language/tokens.js';
import { datesIn } from './dates.js';

/**
 * The properties of an entity that a question may mention. They are written with the entity, without personal values.
 */
export interface Mentions {
  /** The name and the short values, such as a speaker, as words in lower case joined by spaces. */
  names: string[] | null;
  /** The times among the values, as epoch seconds. */
  times: number[] | null;
  /** The validity in epoch seconds. */
  since: number | null;
  until: number | null;
}

/**
 * Creates a function that returns whether the question names an entity, and whether it names a time of the entity, each
 * as 0 or 1.
 */
export function mentionsIn(question: string): (entity: Mentions) => { names: number; time: number } {
  const questionWords = ` ${tokensOf(question).join(' ')} `;
  const dates = datesIn(question);
  return ({ names, times, since, until }) => ({
    names: names?.some((name) => questionWords.includes(` ${name} `)) ? 1 : 0,
    time: dates.some(
      (date) =>
        times?.some((time) => date.from <= time && time < date.until) ||
        ((since !== null || until !== null) && (since ?? -Infinity) < date.until && (until ?? Infinity) > date.from),
    )
      ? 1
      : 0,
  });
}
