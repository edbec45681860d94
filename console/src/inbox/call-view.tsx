import { useState, type ReactNode } from 'react';
import { revealInvisible } from '@service/base/text.js';
import type { Approval } from '../api.js';
import { Facts } from '../facts.js';
import { fieldsOf, isObject } from '../fields-of.js';
import { ForeignText } from '../foreign-text.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';

/** Names of fields that people check first, in this order. */
const telling: readonly RegExp[] = [
  /^(?:amount|total|price|sum)$/i,
  /^currency$/i,
  /^(?:to|cc|bcc|recipients?|payee|beneficiary|e?mail|phone)$/i,
  /^(?:iban|account|account_number|card|bic)$/i,
  /^(?:method|url|uri|host|server|endpoint)$/i,
  /^subject$/i,
];
const maxDepth = 4;
const fieldsAtFirst = 60;
const longText = 200;

interface Leaf {
  /** Unique: a part of the path that could be mistaken for several is quoted. */
  name: string;
  text: string;
  /** Set instead of a text for a value that has none. */
  without?: string;
  rank: number;
}

function nameOf(path: readonly string[]): string {
  const isPlain = (part: string) => /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part);
  return path.map((part) => revealInvisible(isPlain(part) ? part : JSON.stringify(part))).join('.');
}

function leavesOf(value: Record<string, unknown>, path: readonly string[] = []): Leaf[] {
  return Object.entries(value).flatMap(([key, item]): Leaf[] => {
    const here = [...path, key];
    const found = telling.findIndex((names) => names.test(key));
    const leaf = { name: nameOf(here), rank: found < 0 ? telling.length : found };
    const without = withoutText(item);
    if (without !== undefined) return [{ ...leaf, text: '', without }];
    if (isObject(item) && path.length < maxDepth) return leavesOf(item, here);
    return [{ ...leaf, text: textOf(item) }];
  });
}

/** What is shown for a value that has no text; undefined for any other value. */
function withoutText(value: unknown): string | undefined {
  if (value === null || value === undefined) return 'null';
  if (value === '') return 'empty text';
  if (Array.isArray(value) && value.length === 0) return 'empty list';
  return isObject(value) && Object.keys(value).length === 0 ? 'empty object' : undefined;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isSimple = (item: unknown) => typeof item === 'number' || (typeof item === 'string' && !/[,\n]|^$/.test(item));
  return Array.isArray(value) && value.every(isSimple) ? value.join(', ') : JSON.stringify(value, null, 2);
}

/** What is sent: for an act of a run, its call; for any other operation, its input. */
function sentBy(call: unknown): Record<string, unknown> {
  const { input, edits } = fieldsOf(call);
  const sent = isObject(fieldsOf(input).call) ? fieldsOf(fieldsOf(input).call) : fieldsOf(input);
  return isObject(edits) ? { ...sent, edits } : sent;
}

/** Shows the fields of a call, the most telling first, and long texts as a whole. */
export function CallFields({ call }: { call: unknown }) {
  const [isWhole, setWhole] = useState(false);
  const leaves = leavesOf(sentBy(call)).sort((a, b) => a.rank - b.rank);
  const isLong = ({ text }: Leaf) => text.length > longText || text.includes('\n');
  const short = leaves.filter((leaf) => !isLong(leaf));
  const shown = isWhole ? short : short.slice(0, fieldsAtFirst);
  const values = shown.map(({ name, text, without }): [string, ReactNode] => [
    name,
    without === undefined ? <ForeignText text={text} /> : <em className={textStyles.soft}>{without}</em>,
  ]);
  return (
    <>
      <Facts of={Object.fromEntries(values)} />
      {shown.length < short.length && (
        <p className={messageStyles.note}>
          These are {shown.length} of {short.length} short fields.{' '}
          <button type="button" onClick={() => setWhole(true)}>
            Show all fields
          </button>
        </p>
      )}
      {leaves.filter(isLong).map(({ name, text }) => (
        <section key={name}>
          <p className={textStyles.soft}>
            <bdi>{name}</bdi>, {text.length} characters
          </p>
          <WholeText text={text} label={name} />
        </section>
      ))}
    </>
  );
}

const shownAtFirst = 20_000;

/** Shows a long text with its invisible characters; the rest of a very long one follows on request. */
export function WholeText({ text: original, label }: { text: string; label: string }) {
  const text = revealInvisible(original);
  const [isWhole, setWhole] = useState(text.length <= shownAtFirst);
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={label} className={textStyles.box}>
        {isWhole ? text : text.slice(0, shownAtFirst)}
      </pre>
      {!isWhole && (
        <p className={messageStyles.note}>
          This is the beginning of {text.length} characters.{' '}
          <button type="button" onClick={() => setWhole(true)}>
            Show everything
          </button>
        </p>
      )}
    </>
  );
}

/** Says beside the buttons what the person does not see. */
export function ViewNote({ view }: { view: Approval['payload_view'] | undefined }) {
  if (!view || (!view.has_hidden && !view.is_shortened)) return null;
  const parts = [
    view.has_hidden && (view.is_redacted ? 'Secrets and personal data are hidden' : 'Secrets are hidden'),
    view.is_shortened && 'Long texts and lists are shortened',
  ].filter((part) => part !== false);
  return (
    <p className={messageStyles.note}>
      {parts.join('. ')}. Your decision applies to the whole call, which its SHA-256 identifies.
    </p>
  );
}
