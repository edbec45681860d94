import { ActionButton } from './parts.js';
import { useId, useRef } from 'react';
import { capitalized } from './api.js';
import { useRefusal } from './field.js';
import { placeIn, type Place } from './json-place.js';
import { useIsReadOnly } from './read-only.js';
import textStyles from './styles/text.module.css';
import buttonStyles from './styles/button.module.css';
import messageStyles from './styles/message.module.css';

/** An error in a text, with its position if it is known. */
export interface TextProblem {
  message: string;
  at?: Place;
}

export function parsed(text: string): { value: unknown } | { problem: TextProblem } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const { message } = error as Error;
    const found = /position (\d+)/.exec(message)?.[1];
    const at = found === undefined ? text.length : Number(found);
    return { problem: { message: `the text is not valid JSON: ${message}`, at: [at, Math.min(at + 1, text.length)] } };
  }
}

type Path = readonly (string | number)[];
const plainPath = (part: string): Path | undefined => /^([\w.]+): /.exec(part)?.[1]?.split('.');

/**
 * Returns the problems in a validation error, each with the position of its path. Semicolons separate them, but the
 * text of a problem can contain semicolons too.
 */
export function problemsAt(message: string, text: string, pathOf: (part: string) => Path | undefined = plainPath) {
  return message.split('; ').reduce<TextProblem[]>((found, part) => {
    const path = pathOf(part);
    const last = found.at(-1);
    if (path) found.push({ message: part, at: placeIn(text, path) });
    else if (last) last.message += `; ${part}`;
    else found.push({ message: part });
    return found;
  }, []);
}

interface JsonFieldOptions {
  label: string;
  /** The path of the value in the request of the enclosing form. */
  name?: string;
  rows?: number;
  text: string;
  onChange(text: string): void;
  problems: readonly TextProblem[];
  isReadOnly?: boolean;
}

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length;

/** A JSON field. Each problem shows its line and links to its position. */
export function JsonField(props: JsonFieldOptions) {
  const { label, name = '', rows = 16, text, onChange } = props;
  const isInherited = useIsReadOnly();
  const { isReadOnly = isInherited } = props;
  const refused = useRefusal(name);
  const problems = refused === undefined ? props.problems : [...props.problems, { message: refused }];
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
          className={textStyles.code}
          rows={rows}
          spellCheck={false}
          value={text}
          readOnly={isReadOnly}
          aria-invalid={problems.length > 0}
          aria-describedby={problems.length > 0 ? id : undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      <ProblemList id={id} text={text} problems={problems} onShow={show} />
    </>
  );
}

interface ProblemListOptions {
  id?: string;
  text: string;
  problems: readonly TextProblem[];
  onShow(place: Place): void;
}

/** Lists the problems of a text, each with a button that leads to its line. */
export function ProblemList({ id, text, problems, onShow }: ProblemListOptions) {
  if (problems.length === 0) return null;
  return (
    <div id={id} className={messageStyles.problem} role="alert">
      <ul>
        {problems.map(({ message, at }) => (
          <li key={message}>
            {at && (
              <>
                <ActionButton
                  name={`Line ${lineOf(text, at[0])}`}
                  className={buttonStyles.plain}
                  onClick={() => onShow(at)}
                />{' '}
              </>
            )}
            {capitalized(message)}
          </li>
        ))}
      </ul>
    </div>
  );
}
