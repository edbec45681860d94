import { useState } from 'react';
import type { Approval } from '../api.js';
import { Facts } from '../facts.js';

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
const maxFields = 60;
const longText = 200;

interface Leaf {
  name: string;
  text: string;
  rank: number;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function leavesOf(value: Record<string, unknown>, path = '', depth = 0): Leaf[] {
  return Object.entries(value).flatMap(([key, item]): Leaf[] => {
    const name = path === '' ? key : `${path}.${key}`;
    if (item === null || item === undefined || item === '') return [];
    if (isObject(item) && depth < maxDepth) return leavesOf(item, name, depth + 1);
    const isSimpleList = Array.isArray(item) && item.every((each) => typeof each !== 'object');
    const text = isSimpleList ? item.join(', ') : typeof item === 'string' ? item : JSON.stringify(item, null, 2);
    const found = telling.findIndex((names) => names.test(key));
    return text === '' ? [] : [{ name, text, rank: found < 0 ? telling.length : found }];
  });
}

/** What is sent: for an act of a run, its call; for any other operation, its input. */
function sentBy(call: unknown): Record<string, unknown> {
  const { input, edits } = isObject(call) ? call : {};
  const sent = isObject(input) ? (isObject(input.call) ? input.call : input) : {};
  return isObject(edits) ? { ...sent, edits } : sent;
}

/** Shows the fields of a call, the most telling first, and long texts as a whole. */
export function CallFields({ call }: { call: unknown }) {
  const leaves = leavesOf(sentBy(call)).sort((a, b) => a.rank - b.rank);
  const isLong = ({ text }: Leaf) => text.length > longText || text.includes('\n');
  const short = leaves.filter((leaf) => !isLong(leaf)).slice(0, maxFields);
  return (
    <>
      <Facts of={Object.fromEntries(short.map(({ name, text }) => [name, <bdi>{text}</bdi>]))} />
      {leaves.filter(isLong).map(({ name, text }) => (
        <section key={name}>
          <p className="soft">
            <bdi>{name}</bdi>, {text.length} characters
          </p>
          <WholeText text={text} label={name} />
        </section>
      ))}
    </>
  );
}

const shownAtFirst = 20_000;

/** Shows a long text; the rest of a very long one follows on request. */
export function WholeText({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(text.length <= shownAtFirst);
  return (
    <>
      <pre tabIndex={0} role="region" aria-label={label} className="text">
        {isWhole ? text : text.slice(0, shownAtFirst)}
      </pre>
      {!isWhole && (
        <p className="note">
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
    <p className="note">{parts.join('. ')}. Your decision applies to the whole call, which its SHA-256 identifies.</p>
  );
}
