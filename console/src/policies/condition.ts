import type { FactType } from './facts.js';

/** One comparison of a fact, as a row of the form. Values of a list are separated by commas. */
export interface Comparison {
  path: string;
  operator: string;
  value: string;
}

interface Operator {
  id: string;
  name: string;
  type: FactType;
  /**
   * The Cedar text, with words in place of the path of the fact and of the value: a text, a list of texts, the beginning of a text, a part of
   * it, a whole number or a decimal number.
   */
  form: string;
}

export const operators: readonly Operator[] = [
  { id: 'is', name: 'is', type: 'String', form: 'PATH == TEXT' },
  { id: 'is-not', name: 'is not', type: 'String', form: 'PATH != TEXT' },
  { id: 'one-of', name: 'is one of', type: 'String', form: 'LIST.contains(PATH)' },
  { id: 'none-of', name: 'is none of', type: 'String', form: '!LIST.contains(PATH)' },
  { id: 'begins', name: 'begins with', type: 'String', form: 'PATH like BEGINNING' },
  { id: 'includes', name: 'contains the text', type: 'String', form: 'PATH like PART' },
  { id: 'more', name: 'is more than', type: 'Long', form: 'PATH > NUMBER' },
  { id: 'at-least', name: 'is at least', type: 'Long', form: 'PATH >= NUMBER' },
  { id: 'less', name: 'is less than', type: 'Long', form: 'PATH < NUMBER' },
  { id: 'at-most', name: 'is at most', type: 'Long', form: 'PATH <= NUMBER' },
  { id: 'equals', name: 'is', type: 'Long', form: 'PATH == NUMBER' },
  { id: 'd-more', name: 'is more than', type: 'Decimal', form: 'PATH.greaterThan(DECIMAL)' },
  { id: 'd-at-least', name: 'is at least', type: 'Decimal', form: 'PATH.greaterThanOrEqual(DECIMAL)' },
  { id: 'd-less', name: 'is less than', type: 'Decimal', form: 'PATH.lessThan(DECIMAL)' },
  { id: 'd-at-most', name: 'is at most', type: 'Decimal', form: 'PATH.lessThanOrEqual(DECIMAL)' },
  { id: 'yes', name: 'is true', type: 'Boolean', form: 'PATH' },
  { id: 'no', name: 'is false', type: 'Boolean', form: '!PATH' },
  { id: 'has', name: 'contains', type: 'Set', form: 'PATH.contains(TEXT)' },
  { id: 'has-not', name: 'does not contain', type: 'Set', form: '!PATH.contains(TEXT)' },
  { id: 'others', name: 'contains others than', type: 'Set', form: '!LIST.containsAll(PATH)' },
  { id: 'only', name: 'contains only', type: 'Set', form: 'LIST.containsAll(PATH)' },
  { id: 'any-of', name: 'contains one of', type: 'Set', form: 'PATH.containsAny(LIST)' },
];

const kinds = /\b(?:PATH|TEXT|LIST|BEGINNING|PART|NUMBER|DECIMAL)\b/g;
const kindOf = ({ form }: Operator): string => form.match(kinds)?.find((kind) => kind !== 'PATH') ?? '';
/** Whether an operator compares with several values. */
export const isList = (operator: Operator): boolean => kindOf(operator) === 'LIST';
export const hasValue = (operator: Operator): boolean => kindOf(operator) !== '';

const escaped = (text: string) => text.replaceAll(/[\\"]/g, String.raw`\$&`);
/** Cedar reads `*` in a pattern as any text. */
const escapedPattern = (text: string) => escaped(text).replaceAll('*', String.raw`\*`);
const unescaped = (text: string) => text.replaceAll(/\\(.)/g, '$1');
const itemsIn = (value: string) => value.split(',').map((item) => item.trim());

const write: Readonly<Record<string, (value: string) => string>> = {
  TEXT: (value) => `"${escaped(value)}"`,
  LIST: (value) =>
    `[${itemsIn(value)
      .map((item) => `"${escaped(item)}"`)
      .join(', ')}]`,
  BEGINNING: (value) => `"${escapedPattern(value)}*"`,
  PART: (value) => `"*${escapedPattern(value)}*"`,
  NUMBER: (value) => value.trim(),
  DECIMAL: (value) => `decimal("${escaped(value.trim())}")`,
};

const chars = String.raw`(?:[^"\\]|\\.)*?`;
const patterns: Readonly<Record<string, string>> = {
  PATH: String.raw`(?<path>[a-z_]+(?:\.[a-z_]+)+)`,
  TEXT: `"(?<value>${chars})"`,
  LIST: String.raw`\[(?<value>(?:"${chars}"(?:,\s*)?)*)\]`,
  BEGINNING: String.raw`"(?<value>(?:[^"\\*]|\\.)*)\*"`,
  PART: String.raw`"\*(?<value>(?:[^"\\*]|\\.)*)\*"`,
  NUMBER: String.raw`(?<value>-?\d*)`,
  DECIMAL: String.raw`decimal\(\s*"(?<value>${chars})"\s*\)`,
};
const read: Readonly<Record<string, (text: string) => string>> = {
  LIST: (text) => [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, item = '']) => unescaped(item)).join(', '),
};

const readers = operators.map((operator) => {
  const parts = operator.form.replaceAll(/[.()!<>=]+/g, (signs) => signs.replaceAll(/[.()]/g, String.raw`\$&`));
  return {
    operator,
    pattern: new RegExp(
      `^${parts.replaceAll(' ', String.raw`\s*`).replaceAll(kinds, (kind) => patterns[kind] ?? '')}$`,
    ),
  };
});

/** Writes comparisons as a Cedar condition that is true if all of them are. */
export function conditionOf(rows: readonly Comparison[]): string {
  return rows
    .map(({ path, operator: id, value }) => {
      const form = operators.find((operator) => operator.id === id)?.form ?? '';
      return form.replaceAll(kinds, (kind) => (kind === 'PATH' ? path : (write[kind]?.(value) ?? '')));
    })
    .join(' && ');
}

/**
 * Reads the comparisons of a Cedar condition.
 * @param typeOf returns the type of a fact; undefined if there is none at this path
 * @returns undefined if the form cannot show the condition
 */
export function comparisonsIn(
  condition: string,
  typeOf: (path: string) => FactType | undefined,
): readonly Comparison[] | undefined {
  if (condition.trim() === '') return [];
  const rows: Comparison[] = [];
  for (const part of partsOf(condition)) {
    const row = comparisonIn(withoutBrackets(part), typeOf);
    if (!row) return undefined;
    rows.push(row);
  }
  return rows;
}

function comparisonIn(part: string, typeOf: (path: string) => FactType | undefined): Comparison | undefined {
  for (const { operator, pattern } of readers) {
    const { path, value = '' } = pattern.exec(part)?.groups ?? {};
    if (path === undefined || typeOf(path) !== operator.type) continue;
    const row = { path, operator: operator.id, value: (read[kindOf(operator)] ?? unescaped)(value) };
    return withoutSpaces(conditionOf([row])) === withoutSpaces(part) ? row : undefined;
  }
  return undefined;
}

/** A row that would be written in another way, such as one with a comma in a text of a list, would change the rule. */
const withoutSpaces = (text: string): string => text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

/** `!(x.contains(y))` means the same as `!x.contains(y)`. */
const withoutBrackets = (part: string): string => part.replace(/^!\s*\((\[.*|[\w.]+\(.*)\)$/s, '!$1');

/** Splits a condition at each `&&` that is not in a string or in brackets. */
function partsOf(condition: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const [token] of condition.matchAll(/"(?:[^"\\]|\\.)*"|&&|[\s\S]/g)) {
    if ('([{'.includes(token)) depth += 1;
    if (')]}'.includes(token)) depth -= 1;
    if (token === '&&' && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts.map((part) => part.trim());
}
