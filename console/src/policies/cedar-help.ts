import type { Completion } from '@codemirror/autocomplete';
import type { Place } from '../json-place.js';
import type { Fact } from './facts.js';

const methods = {
  String: [],
  Boolean: [],
  Long: [],
  Set: ['contains', 'containsAll', 'containsAny'],
  Decimal: ['lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual'],
} as const;
const words = ['like', 'has', 'in', 'if', 'then', 'else', 'true', 'false', 'decimal'];

/** What can be written in a condition: the facts with their types, what they can be asked, and the words of Cedar. */
export const completionsOf = (facts: readonly Fact[]): readonly Completion[] => [
  ...facts.flatMap(({ path, name, type }) => [
    { label: path, detail: type, info: name, type: 'property' },
    ...methods[type].map((method) => ({ label: `${path}.${method}`, apply: `${path}.${method}(`, type: 'method' })),
  ]),
  ...words.map((label) => ({ label, type: 'keyword' })),
];

/** Returns the line that a problem of the API names, or the attribute. */
export function placeInCondition(text: string, problem: string): Place | undefined {
  const line = /\(line (\d+)\)/.exec(problem)?.[1];
  if (line !== undefined) {
    const before = text.split('\n').slice(0, Number(line) - 1);
    const start = before.reduce((length, each) => length + each.length + 1, 0);
    const end = text.indexOf('\n', start);
    return [Math.min(start, text.length), end < 0 ? text.length : end];
  }
  const attribute = /`(?:\w+\.)*(\w+)`/.exec(problem)?.[1];
  const at = attribute === undefined ? -1 : text.search(new RegExp(`\\b${attribute}\\b`));
  return at < 0 ? undefined : [at, at + (attribute ?? '').length];
}
