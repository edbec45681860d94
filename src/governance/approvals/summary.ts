import { type JsonObject, isJsonObject } from '../../base/json.js';
import { renderSummary } from '../../prompts/template.js';
import { revealInvisible } from '../../base/text.js';

/** What a field means to a person who approves the call. The author of an action marks its fields. */
export const fieldMarks = ['recipient', 'account', 'amount', 'currency'] as const;
export type FieldMark = (typeof fieldMarks)[number];

/** What the one-line summary of a call is made from. */
export interface SummarySource {
  /** The name of the action, or the title of the operation. */
  title: string;
  /** A Liquid template over the fields. */
  template?: string | undefined;
  fields: JsonObject;
  /** The meaning of fields, by their names. Other fields are recognized by their names. */
  marks?: Readonly<Record<string, FieldMark>>;
}

const maxSummary = 300;
const maxTitle = 80;
const maxValue = 80;
const maxDepth = 4;

type Kind = 'id' | FieldMark | 'host' | 'other';
const order: readonly Kind[] = ['id', 'amount', 'currency', 'recipient', 'account', 'host', 'other'];
const kindsByName: readonly (readonly [Kind, RegExp])[] = [
  ['amount', /^(?:amount|total|price|sum)$/],
  ['currency', /^currency$/],
  ['recipient', /^(?:to|cc|bcc|recipients?|payee|beneficiary|e?mail|phone|user_id)$/],
  ['account', /^(?:iban|account|account_number|card|bic)$/],
  ['host', /^(?:(?:target )?host|url|uri|endpoint|address|server)$/],
  ['id', /(?:^|_)(?:id|number|order|invoice|ticket|case|claim|name)$/],
];

function kindOf(name: string, marks: SummarySource['marks'] = {}): Kind {
  const word = name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  return (
    (Object.hasOwn(marks, name) ? marks[name] : undefined) ??
    kindsByName.find(([, names]) => names.test(word))?.[0] ??
    'other'
  );
}

/** `orders.delete_all` becomes "Orders: delete all". */
export function titleOfOperation(name: string): string {
  const words = name.replace(/\./g, ': ').replace(/[-_]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * One line that says what a call does. It begins with the title; values of fields cannot look like other parts of it.
 * @param digest of the call: its beginning is appended if a part was left out, so that different calls stay different
 */
export function summaryOf(source: SummarySource, digest: string): string {
  const title = visible(source.title).slice(0, maxTitle) || 'Call';
  const { text, isComplete } = templateSummary(source) ?? fieldsSummary(title, source);
  if (isComplete && text.length <= maxSummary) return text;
  return `${cut(text, maxSummary)} … (shortened, call ${digest.slice(0, 12)})`;
}

interface Line {
  text: string;
  isComplete: boolean;
}

/** Undefined without a template, and if the template cannot be rendered with these fields. */
function templateSummary({ template, fields }: SummarySource): Line | undefined {
  if (template === undefined || template.trim() === '') return undefined;
  let isComplete = true;
  const show = (value: unknown) => {
    const { text, isWhole } = shownValue(value);
    isComplete &&= isWhole;
    return text;
  };
  try {
    const text = visible(renderSummary(template, fields, show));
    return text === '' ? undefined : { text, isComplete };
  } catch {
    return undefined;
  }
}

function fieldsSummary(title: string, { fields, marks }: SummarySource): Line {
  const found = scalarsIn(fields, marks).sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const currency = found.find(({ kind }) => kind === 'currency');
  const amounts = found.filter(({ kind }) => kind === 'amount');
  const parts = found
    .filter((field) => field !== currency || amounts.length !== 1)
    .map((field) => {
      const { text, isWhole } = shownValue(field.value);
      const unit =
        field.kind === 'amount' && amounts.length === 1 && currency ? ` ${shownValue(currency.value).text}` : '';
      return { part: `${visible(field.name).slice(0, maxValue)} ${text}${unit}`, isWhole };
    });
  let text = title;
  let isComplete = true;
  for (const [at, { part, isWhole }] of parts.entries()) {
    isComplete &&= isWhole;
    const longer = `${text}${at === 0 ? ': ' : ', '}${part}`;
    if (longer.length > maxSummary) return { text, isComplete: false };
    text = longer;
  }
  return { text, isComplete };
}

interface Scalar {
  name: string;
  kind: Kind;
  value: unknown;
}

/** Lists of simple values are one value. Values of nested objects have their own names. */
function scalarsIn(fields: JsonObject, marks: SummarySource['marks'], depth = 0): Scalar[] {
  return Object.entries(fields).flatMap(([name, value]): Scalar[] => {
    if (value === undefined || value === null || value === '') return [];
    if (isJsonObject(value) && depth < maxDepth) return scalarsIn(value, marks, depth + 1);
    return Array.isArray(value) && value.length === 0 ? [] : [{ name, kind: kindOf(name, marks), value }];
  });
}

/** Texts that need no quotes: they contain nothing that separates the parts of a summary. */
const plain = /^[\p{L}\p{N}@._+/#-]+$/u;

/** A value on one line. Texts with other characters than letters, digits and a few signs are quoted. */
function shownValue(value: unknown): { text: string; isWhole: boolean } {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    const shown = value.map((item) => shownValue(item));
    const text = shown.map((item) => item.text).join(' + ');
    return {
      text: cut(text, maxValue * 2),
      isWhole: text.length <= maxValue * 2 && shown.every(({ isWhole }) => isWhole),
    };
  }
  const raw = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = visible(raw);
  const isWhole = line.length <= maxValue;
  const short = isWhole ? line : `${cut(line, maxValue)}…`;
  if (typeof value !== 'string' && typeof value !== 'object') return { text: short, isWhole };
  return { text: plain.test(short) ? short : `“${short.replace(/[“”"]/g, "'")}”`, isWhole };
}

/** Without splitting a surrogate pair. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

/** On one line, with invisible characters written as their code points. */
function visible(text: string): string {
  return revealInvisible(text.replace(/[\s\p{Z}]+/gu, ' ')).trim();
}
