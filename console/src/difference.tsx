import { diffLines } from 'diff';
import { useMemo } from 'react';
import messageStyles from './styles/message.module.css';

const context = 3;

interface DifferenceOptions {
  from: unknown;
  to: unknown;
  /** The accessible name, if a page shows several. */
  label?: string;
}

export function Difference({ from, to, label = 'Difference' }: DifferenceOptions) {
  const parts = useMemo(() => diffLines(canonicalText(from), canonicalText(to)), [from, to]);
  if (parts.every(({ added, removed }) => !added && !removed))
    return <p className={messageStyles.empty}>There are no differences.</p>;
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      {parts.map(({ added, removed, value }, at) => {
        const lines = value.replace(/\n$/, '').split('\n');
        if (added) return <ins key={at}>{lines.map((line) => `+ ${line}\n`)}</ins>;
        if (removed) return <del key={at}>{lines.map((line) => `- ${line}\n`)}</del>;
        return <span key={at}>{shortened(lines, at > 0, at < parts.length - 1).map((line) => `  ${line}\n`)}</span>;
      })}
    </pre>
  );
}

function shortened(lines: readonly string[], isAfterChange: boolean, isBeforeChange: boolean): readonly string[] {
  const first = isAfterChange ? context : 0;
  const last = isBeforeChange ? context : 0;
  const hidden = lines.length - first - last;
  if (hidden <= 1) return lines;
  return [...lines.slice(0, first), `… ${hidden} unchanged lines`, ...lines.slice(lines.length - last)];
}

/** Sorts the fields, so that their order makes no difference. A text is compared line by line. */
function canonicalText(value: unknown): string {
  if (typeof value === 'string') return `${value}\n`;
  const sorted = (_name: string, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return `${JSON.stringify(value, sorted, 2)}\n`;
}
