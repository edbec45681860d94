import { tokensOf } from '../language/tokens.js';
import { placeholder } from '../redaction/span.js';
import { isoSeconds } from '../../base/time.js';
import type { JsonMap } from './values.js';

const maxNames = 12;
const maxTimes = 12;
const maxNameLength = 60;
const isQuestion = /[?？]\s*$/;
/** The characters at the end of a text that are read. */
const maxEnd = 20;
const isoTime = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * The internal properties by which a question that names an entity, a short value of it or a time finds it, and whether
 * its longest text is itself a question. `shown` has no personal values.
 */
export function mentionProperties(
  name: string,
  shown: Readonly<JsonMap>,
): { _names: string[]; _times: number[]; _asks?: true } {
  const texts = Object.values(shown).filter((value) => typeof value === 'string');
  const times = texts.filter((text) => isoTime.test(text)).map(isoSeconds);
  const names = [name, ...texts.filter((text) => text.length <= maxNameLength && text !== placeholder('personal'))]
    .map(nameWords)
    .filter((words) => /\p{L}/u.test(words));
  const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), '');
  return {
    _names: [...new Set(names)].slice(0, maxNames),
    _times: times.filter(Number.isFinite).slice(0, maxTimes),
    ...(isQuestion.test(longest.slice(-maxEnd)) && { _asks: true }),
  };
}

function nameWords(text: string): string {
  return tokensOf(text.slice(0, maxNameLength * 2)).join(' ');
}
