import { useState, type ReactNode } from 'react';
import { TextField } from '../field.js';
import { ActionButton } from '../parts.js';
import { Changes } from '../read-only.js';
import { isFields, text, type Fields } from './document.js';
import { ExpressionField } from './expression-field.js';
import textStyles from '../styles/text.module.css';
import styles from './entries.module.css';

interface EntriesOptions {
  label: string;
  hint?: string | undefined;
  /** The name of one entry, such as `Case`. */
  one: string;
  count: number;
  /** The problem of the whole list. */
  problem: string | undefined;
  /** How the fields of an entry are laid out, other than in one line. */
  className?: string | undefined;
  onAdd: () => void;
  onRemove: (at: number) => void;
  /** Renders the fields of an entry. */
  children: (at: number) => ReactNode;
}

/** A list of entries with several fields each. */
export function Entries({ label, hint, one, count, problem, className, onAdd, onRemove, children }: EntriesOptions) {
  return (
    <div role="group" aria-label={label} className={styles.entries}>
      <p>
        <strong>{label}</strong> {hint !== undefined && <span className={textStyles.soft}>{hint}</span>}
      </p>
      {problem !== undefined && (
        <p className={textStyles.bad} role="alert">
          {label} {problem}
        </p>
      )}
      {Array.from({ length: count }, (_, at) => (
        <div key={at} role="group" aria-label={`${one} ${at + 1}`} className={className ?? styles.entry}>
          {children(at)}
          <Changes>
            <button type="button" onClick={() => onRemove(at)}>
              Remove
              <span className={textStyles.hidden}>
                {' '}
                {one.toLowerCase()} {at + 1}
              </span>
            </button>
          </Changes>
        </div>
      ))}
      <Changes>
        <p>
          <ActionButton name={`Add ${one.toLowerCase()}`} onClick={onAdd} />
        </p>
      </Changes>
    </div>
  );
}

type Row = readonly [name: string, text: string];

interface NamedOptions {
  label: string;
  hint: string | undefined;
  one: string;
  value: unknown;
  /** Returns the problem of a value, or of all of them without a name. */
  problemOf: (name?: string) => string | undefined;
  onChange: (value: Fields) => void;
}

/** Edits expressions by name. Any other value can only be edited as JSON. */
export function NamedExpressions({ label, hint, one, value = {}, problemOf, onChange }: NamedOptions) {
  // The rows keep two values whose names are equal while a person types one of them.
  const [typed, setTyped] = useState<readonly Row[]>([]);
  if (!isFields(value)) return null;
  const isCurrent = JSON.stringify(Object.fromEntries(typed)) === JSON.stringify(value);
  const rows = isCurrent ? typed : Object.entries(value).map(([name, each]): Row => [name, text(each)]);
  const change = (next: readonly Row[]) => {
    setTyped(next);
    onChange(Object.fromEntries(next));
  };
  const replace = (at: number, row: Row) => change(rows.map((each, index) => (index === at ? row : each)));
  const isRepeated = (name: string, at: number) => rows.findIndex(([other]) => other === name) !== at;
  return (
    <Entries
      {...{ label, hint, one }}
      count={rows.length}
      problem={problemOf()}
      onAdd={() => change([...rows, ['', '']])}
      onRemove={(at) => change(rows.filter((_, index) => index !== at))}
    >
      {(at) => {
        const [name, expression] = rows[at] ?? ['', ''];
        return (
          <>
            <TextField
              label="Name"
              problem={isRepeated(name, at) ? 'must be unique' : undefined}
              text={name}
              onChange={(next) => replace(at, [next, expression])}
            />
            <ExpressionField
              label="Expression"
              problem={problemOf(name)}
              value={expression}
              onChange={(next) => replace(at, [name, next])}
            />
          </>
        );
      }}
    </Entries>
  );
}
