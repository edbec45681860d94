import { createContext, useContext, useEffect, useId, useState, type ReactNode } from 'react';
import { Problem } from './parts.js';
import { refusalByField } from './refusal-by-field.js';

const Refused = createContext<{ names: Set<string>; problems: Readonly<Record<string, string>> }>({
  names: new Set(),
  problems: {},
});

interface FormOptions {
  error: unknown;
  /** The name of the field for a path of the request, if that is not the name of the path itself. */
  nameOf?: (path: string) => string;
  onSubmit: () => void;
  className?: string;
  /** Of a form that searches: its accessible name. */
  search?: string;
  children: ReactNode;
}

/** A form whose fields show what the API says about their values. What belongs to no field is at the top. */
export function Form({ error, nameOf = (path) => path, onSubmit, className, search, children }: FormOptions) {
  const [names] = useState(() => new Set<string>());
  // A problem of a part of a value is shown at the field of the value.
  const fieldOf = (path: string) => [...names].find((name) => `${nameOf(path)}.`.startsWith(`${name}.`));
  const { fields: problems, top } = refusalByField(error, fieldOf);
  return (
    <form
      className={className}
      {...(search !== undefined && { role: 'search', 'aria-label': search })}
      // The API says what is wrong with a value.
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

/** What the API says about the value of this path. The field is known to the form from now on. */
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
  /** The path of the value in the request of the form around. */
  name?: string;
  /** What the API says about the value, if the form around does not know it. */
  problem?: string | undefined;
  /** The control, which takes these attributes. */
  children: (control: FieldControl) => ReactNode;
}

/** A control with its name, a hint, and the reason why its value was refused. */
export function Field({ label, hint, name = '', problem: given, children }: FieldOptions) {
  const id = useId();
  const problem = useRefusal(name) ?? given;
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
  /** More than one for a long text. */
  rows?: number;
  maxLength?: number;
  autoFocus?: boolean;
  placeholder?: string;
  isReadOnly?: boolean;
}

/** A field for text. */
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
        const given = {
          ...control,
          ...{ maxLength, autoFocus, placeholder, value: text, readOnly: isReadOnly, autoComplete: 'off' },
          onChange: (event: { target: { value: string } }) => onChange(event.target.value),
        };
        return rows === 1 ? <input {...given} /> : <textarea {...given} rows={rows} />;
      }}
    </Field>
  );
}

/** Why something is done. */
export function Reason(given: { text: string; onChange: (text: string) => void }) {
  return <TextField label="Reason (optional)" name="reason" maxLength={500} autoFocus {...given} />;
}
