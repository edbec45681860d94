import { tokensOf } from '../language/tokens.js';
import { datesIn } from './dates.js';

/** What a question may mention of an entity. Written with the entity, without personal values. */
export interface Mentions {
  /** Its name and its short values, such as a speaker: words in lower case, joined by spaces. */
  names: string[] | null;
  /** The times among its values, as epoch seconds. */
  times: number[] | null;
  /** Its validity, as epoch seconds. */
  since: number | null;
  until: number | null;
}

/** Says whether the question names an entity, or a time in which it lies: each 0 or 1. */
export function mentionsIn(question: string): (entity: Mentions) => { names: number; time: number } {
  const asked = ` ${tokensOf(question).join(' ')} `;
  const dates = datesIn(question);
  return ({ names, times, since, until }) => ({
    names: names?.some((name) => asked.includes(` ${name} `)) ? 1 : 0,
    time: dates.some(
      (date) =>
        times?.some((time) => date.from <= time && time < date.until) ||
        ((since !== null || until !== null) && (since ?? -Infinity) < date.until && (until ?? Infinity) > date.from),
    )
      ? 1
      : 0,
  });
}
