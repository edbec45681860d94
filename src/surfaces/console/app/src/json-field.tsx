import { useId, useRef } from 'react';
import { capitalized } from './api.js';
import type { Place } from './json-place.js';

/** What is wrong with a text, and where. */
export interface TextProblem {
  message: string;
  at?: Place;
}

/** The value of a JSON text, or why it is none. */
export function parsed(text: string): { value: unknown } | { problem: TextProblem } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const { message } = error as Error;
    const found = /position (\d+)/.exec(message)?.[1];
    const at = found === undefined ? text.length : Number(found);
    return { problem: { message: `this is not JSON: ${message}`, at: [at, Math.min(at + 1, text.length)] } };
  }
}

interface JsonFieldOptions {
  label: string;
  rows?: number;
  text: string;
  onChange(text: string): void;
  problems: readonly TextProblem[];
  isReadOnly?: boolean;
}

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length;

/** A field for JSON. Its problems name their line and lead there. */
export function JsonField({ label, rows = 16, text, onChange, problems, isReadOnly = false }: JsonFieldOptions) {
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const show = ([start, end]: Place) => {
    const area = field.current;
    if (!area) return;
    area.focus();
    area.setSelectionRange(start, end);
    const lineHeight = area.scrollHeight / Math.max(1, text.split('\n').length);
    area.scrollTop = Math.max(0, (lineOf(text, start) - 3) * lineHeight);
  };
  return (
    <>
      <label>
        {label}
        <textarea
          ref={field}
          className="code"
          rows={rows}
          spellCheck={false}
          value={text}
          readOnly={isReadOnly}
          aria-invalid={problems.length > 0}
          aria-describedby={problems.length > 0 ? id : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      {problems.length > 0 && (
        <ul id={id} className="problem problems" role="alert">
          {problems.map(({ message, at }) => (
            <li key={message}>
              {at && (
                <>
                  <button type="button" className="plain" onClick={() => show(at)}>
                    Line {lineOf(text, at[0])}
                  </button>{' '}
                </>
              )}
              {capitalized(message)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
