import { createContext, useContext, useEffect, useId, useState, type ReactNode } from 'react';
import { Problem } from './parts.js';
import { refusalByField } from './refusal-by-field.js';

const Refused = createContext<{ names: Set<string>; problems: Readonly<Record<string, string>> }>({
  names: new Set(),
  problems: {},
});

interface FormOptions {
  error: unknown;
  /** Returns the name of the field that shows the errors of a path in the request. By default, it is the path. */
  nameOf?: (path: string) => string;
  onSubmit: () => void;
  className?: string;
  /** The accessible name of a search form. */
  search?: string;
  children: ReactNode;
}

/** A form whose fields show their validation errors. The form shows all other errors at the top. */
export function Form({ error, nameOf = (path) => path, onSubmit, className, search, children }: FormOptions) {
  const [names] = useState(() => new Set<string>());
  // An error in a part of a value is shown at the field of the whole value.
  const fieldOf = (path: string) => [...names].find((name) => `${nameOf(path)}.`.startsWith(`${name}.`));
  const { fields: problems, top } = refusalByField(error, fieldOf);
  return (
    <form
      className={className}
      {...(search !== undefined && { role: 'search', 'aria-label': search })}
      // The API validates the values, not the browser.
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Problem error={top} />
      <Refused value={{ names, problems }}>{children}</Refused>
    </form>
  );
}

/** Returns the validation error of a path, and registers the field with the form. */
export function useRefusal(name: string): string | undefined {
  const { names, problems } = useContext(Refused);
  useEffect(() => {
    if (name === '') return undefined;
    names.add(name);
    return () => void names.delete(name);
  }, [names, name]);
  return problems[name];
}

export interface FieldControl {
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

interface FieldOptions {
  label: ReactNode;
  hint?: ReactNode;
  /** The path of the value in the request of the enclosing form. */
  name?: string;
  /** The validation error, if the enclosing form does not have it. */
  problem?: string | undefined;
  /** Renders the control with these attributes. */
  children: (control: FieldControl) => ReactNode;
}

/** A labelled control with a hint and its validation error. */
export function Field({ label, hint, name = '', problem: ownProblem, children }: FieldOptions) {
  const id = useId();
  const problem = useRefusal(name) ?? ownProblem;
  const described = [hint !== undefined && `${id}hint`, problem !== undefined && `${id}problem`].filter(Boolean);
  return (
    <div className="field">
      <label>
        {label}
        {children({
          'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
          'aria-invalid': problem !== undefined || undefined,
        })}
      </label>
      {hint !== undefined && (
        <p className="soft" id={`${id}hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p className="bad" id={`${id}problem`} role="alert">
          {label} {problem}
        </p>
      )}
    </div>
  );
}

interface TextOptions extends Omit<FieldOptions, 'children'> {
  text: string;
  onChange: (text: string) => void;
  /** A text area is rendered for more than one. */
  rows?: number;
  maxLength?: number;
  autoFocus?: boolean;
  placeholder?: string;
  isReadOnly?: boolean;
}

export function TextField({
  text,
  onChange,
  rows = 1,
  maxLength,
  autoFocus,
  placeholder,
  isReadOnly,
  ...field
}: TextOptions) {
  return (
    <Field {...field}>
      {(control) => {
        const inputProps = {
          ...control,
          ...{ maxLength, autoFocus, placeholder, value: text, readOnly: isReadOnly, autoComplete: 'off' },
          onChange: (event: { target: { value: string } }) => onChange(event.target.value),
        };
        return rows === 1 ? <input {...inputProps} /> : <textarea {...inputProps} rows={rows} />;
      }}
    </Field>
  );
}

/** A field for the reason of an action. */
export function Reason(props: { text: string; onChange: (text: string) => void }) {
  return <TextField label="Reason (optional)" name="reason" maxLength={500} autoFocus {...props} />;
}
