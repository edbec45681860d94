import {
  createContext,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
  type InputHTMLAttributes,
  type ReactNode,
} from 'react';
import { ActionButton, Problem } from './parts.js';
import { useIsReadOnly } from './read-only.js';
import { refusalByField } from './refusal-by-field.js';
import buttonStyles from './styles/button.module.css';
import controlStyles from './styles/controls.module.css';
import styles from './field.module.css';

interface Refusal {
  /** The fields of the form. */
  names: Set<string>;
  problems: Readonly<Record<string, string>>;
  /** The error that the problems come from. */
  error: unknown;
}

const Refused = createContext<Refusal>({ names: new Set(), problems: {}, error: undefined });

/** Tells the fields of a form that has their problems itself which error these come from. */
export function RefusedFields({ error, children }: { error: unknown; children: ReactNode }) {
  return <Refused value={{ names: new Set(), problems: {}, error }}>{children}</Refused>;
}

/** Moves the focus to the first wrong field after the API has refused what the person sent. */
export function useFirstProblem(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  const isSent = useRef(false);
  useEffect(() => {
    if (error === undefined || error === null || !isSent.current) return;
    isSent.current = false;
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  return { form, onSent: () => void (isSent.current = true) };
}

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
  const { form, onSent } = useFirstProblem(error);
  return (
    <form
      ref={form}
      className={className}
      {...(search !== undefined && { role: 'search', 'aria-label': search })}
      // The API validates the values, not the browser.
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSent();
        onSubmit();
      }}
    >
      <Problem error={top} />
      <Refused value={{ names, problems, error }}>{children}</Refused>
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

interface FieldControl {
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

interface FieldOptions {
  label: ReactNode;
  hint?: ReactNode;
  /** The path of the value in the request of the enclosing form. */
  name?: string | undefined;
  /** The validation error, if the enclosing form does not have it. */
  problem?: string | undefined;
  /** Renders the control with these attributes. */
  children: (control: FieldControl) => ReactNode;
}

/** A labelled control with a hint and its validation error. */
export function Field({ label, hint, name = '', problem: ownProblem, children }: FieldOptions) {
  const id = useId();
  const refused = useRefusal(name) ?? ownProblem;
  const { error } = useContext(Refused);
  // A problem belongs to the value that was sent, not to a corrected one.
  const [corrected, setCorrected] = useState<unknown>();
  const problem = error !== undefined && error === corrected ? undefined : refused;
  const described = [hint !== undefined && `${id}hint`, problem !== undefined && `${id}problem`].filter(Boolean);
  return (
    <div className={styles.field} onChange={() => setCorrected(error)}>
      <label>
        {label}
        {children({
          'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
          'aria-invalid': problem !== undefined || undefined,
        })}
      </label>
      {hint !== undefined && (
        <p className={styles.hint} id={`${id}hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p className={styles.wrong} id={`${id}problem`} role="alert">
          {label} {problem}
        </p>
      )}
    </div>
  );
}

type Control = Omit<FieldOptions, 'children'>;
type InputOptions = Omit<InputHTMLAttributes<HTMLInputElement>, 'name' | 'onChange' | 'value'>;

interface TextOptions extends Control, InputOptions {
  text: string;
  onChange: (text: string) => void;
  /** A text area is rendered for more than one. */
  rows?: number | undefined;
  isReadOnly?: boolean;
}

export function TextField({ label, hint, name, problem, text, onChange, rows = 1, ...options }: TextOptions) {
  const isInherited = useIsReadOnly();
  const { isReadOnly = isInherited, ...input } = options;
  return (
    <Field {...{ label, hint, name, problem }}>
      {(control) => {
        const inputProps = {
          ...{ ...control, autoComplete: 'off', ...input, value: text, readOnly: isReadOnly },
          onChange: (event: { target: { value: string } }) => onChange(event.target.value),
        };
        return rows === 1 ? <input {...inputProps} /> : <textarea {...(inputProps as object)} rows={rows} />;
      }}
    </Field>
  );
}

export interface Option {
  value: string;
  /** The label; the value by default. */
  name?: string;
}

interface SelectOptions extends Control {
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}

/** The current value is always an option, for example the id of a deleted agentflow. */
export function SelectField({ value, options, onChange, ...field }: SelectOptions) {
  const isKnown = options.some((option) => option.value === value);
  const isReadOnly = useIsReadOnly();
  return (
    <Field {...field}>
      {(control) => (
        <select {...control} value={value} disabled={isReadOnly} onChange={(event) => onChange(event.target.value)}>
          {[...(isKnown ? [] : [{ value }]), ...options].map(({ value: each, name = each }: Option) => (
            <option key={each} value={each}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckOptions {
  label: ReactNode;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  isDisabled?: boolean;
  className?: string;
}

export function CheckField({ label, isChecked, onChange, isDisabled = false, className }: CheckOptions) {
  const isReadOnly = useIsReadOnly();
  return (
    <label className={className}>
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled || isReadOnly}
        onChange={(event) => onChange(event.target.checked)}
      />{' '}
      {label}
    </label>
  );
}

interface SaveOptions {
  /** The label of the submit button. */
  name?: string;
  /** Whether there are changes, which can be saved or discarded. */
  isChanged: boolean;
  /** Whether the form can be submitted. By default, if there are changes. */
  canSave?: boolean;
  onDiscard: () => void;
  className?: string;
  /** More buttons, in front. */
  children?: ReactNode;
}

/** The buttons at the end of a form that edits a record. */
export function SaveButtons(props: SaveOptions) {
  const {
    name = 'Save',
    isChanged,
    canSave = isChanged,
    onDiscard,
    className = controlStyles.actions,
    children,
  } = props;
  return (
    <p className={className}>
      {children}
      <button className={buttonStyles.primary} disabled={!canSave}>
        {name}
      </button>
      <ActionButton name="Discard changes" isDisabled={!isChanged} onClick={onDiscard} />
    </p>
  );
}

export function Reason(props: { text: string; onChange: (text: string) => void }) {
  return <TextField label="Reason (optional)" name="reason" maxLength={500} autoFocus {...props} />;
}
