import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useId, useState, type KeyboardEvent } from 'react';
import { call, messageOf } from '../api.js';
import { TextField } from '../field.js';
import { text } from './document.js';
import { functionsOfValues, otherFunctions } from './expression-functions.js';
import { usePastRun } from './past-run.js';
import textStyles from '../styles/text.module.css';
import styles from './expression.module.css';

/** Where an expression stands: its step, and the names that it can use. */
export const ExpressionPlace = createContext<{ step: string; names: readonly string[] }>({ step: '', names: [] });

const maxSuggestions = 8;

interface ExpressionOptions {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  value: unknown;
  onChange: (text: string) => void;
}

/** An expression in CEL, on one line. Completes the names and functions that it can use, and shows its value in a run. */
export function ExpressionField({ value, onChange, ...field }: ExpressionOptions) {
  const { names } = useContext(ExpressionPlace);
  const id = useId();
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(0);
  const typed = text(value);
  const word = caret === undefined ? '' : (/[\w.]+$/.exec(typed.slice(0, caret))?.[0] ?? '');
  const suggestions = suggestionsFor(word, names);
  const isOpen = suggestions.length > 0;
  const accept = (name: string, input: HTMLInputElement) => {
    const at = (caret ?? typed.length) - word.length;
    onChange(typed.slice(0, at) + name + typed.slice(at + word.length));
    setCaret(undefined);
    const end = at + name.length;
    requestAnimationFrame(() => input.setSelectionRange(end, end));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (!isOpen) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = suggestions[active];
    if (step !== undefined) setActive((active + step + suggestions.length) % suggestions.length);
    else if (event.key === 'Escape') setCaret(undefined);
    else if ((event.key === 'Enter' || event.key === 'Tab') && chosen) accept(chosen, event.currentTarget);
    else return;
    event.preventDefault();
  };
  return (
    <div className={styles.expression}>
      <TextField
        {...field}
        text={typed}
        onChange={(next) => {
          onChange(next);
          setActive(0);
          setCaret((document.activeElement as HTMLInputElement | null)?.selectionStart ?? next.length);
        }}
        className={textStyles.code}
        spellCheck={false}
        maxLength={4000}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-activedescendant={isOpen ? `${id}${active}` : undefined}
        onKeyDown={onKeyDown}
        onBlur={() => setCaret(undefined)}
      />
      {isOpen && (
        <ul id={id} role="listbox" aria-label="Names and functions" className={styles.names}>
          {suggestions.map((name, at) => (
            <li
              key={name}
              id={`${id}${at}`}
              role="option"
              aria-selected={at === active}
              // The field keeps the focus.
              onMouseDown={(event) => {
                event.preventDefault();
                accept(name, document.activeElement as HTMLInputElement);
              }}
            >
              {name}
            </li>
          ))}
        </ul>
      )}
      <ValueInRun expression={typed} />
    </div>
  );
}

function suggestionsFor(word: string, names: readonly string[]): string[] {
  if (word === '') return [];
  const dot = word.lastIndexOf('.');
  const functions =
    dot === -1 || dot === word.length - 1 ? [] : functionsOfValues.map((each) => `${word.slice(0, dot)}.${each}`);
  return (
    [...names, ...otherFunctions, ...functions]
      // A field can have the name of a function, so a whole name is not completed.
      .filter((name) => name.startsWith(word) && name.replace(/\(\)?$/, '') !== word)
      .slice(0, maxSuggestions)
  );
}

/** The value of the expression in the chosen run, after the person has stopped typing. */
function ValueInRun({ expression }: { expression: string }) {
  const { runId } = usePastRun();
  const { step } = useContext(ExpressionPlace);
  const settled = useSettled(expression.trim());
  const isWanted = runId !== '' && settled !== '';
  const { data, error } = useQuery({
    queryKey: ['evaluate', runId, step, settled],
    queryFn: () =>
      call('get', '/execute_flow/{execution_id}/evaluate', {
        params: { execution_id: runId },
        query: { expression: settled, at: step },
      }),
    enabled: isWanted,
    retry: false,
    staleTime: Infinity,
  });
  if (!isWanted) return null;
  return (
    <p className={styles.value} role="status">
      {error
        ? messageOf(error)
        : data && `= ${JSON.stringify(data.value)}${data.path === '' ? '' : ` in ${data.path}`}`}
    </p>
  );
}

const settledMs = 400;

/** The value after it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settledMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
