import { useEffect, useState } from 'react';
import { Field, Form } from './field.js';
import { sinceNames } from './runs/filter.js';
import type { Words } from './words.js';

export interface Option {
  value: string;
  /** What people read. */
  name: string;
}

export interface FilterField<Name extends string> {
  name: Name;
  label: string;
  /** The parameter of the API, if it has another name. */
  parameter?: string;
  /** Left out for text. */
  options?: readonly Option[];
  /** Of a text, 1000 by default. */
  maxLength?: number;
}

const sinceOptions = Object.entries(sinceNames).map(([value, name]) => ({ value, name }));
export const sinceField = { name: 'since', label: 'In', parameter: 'from', options: sinceOptions } as const;

/** Options that people read as they are named. */
export const named = (...values: readonly string[]): readonly Option[] =>
  values.map((value) => ({ value, name: value.replaceAll('_', ' ') }));

export interface FilterFormOptions<Name extends string> {
  fields: readonly FilterField<Name>[];
  filter: Words<Name>;
  /** Why the list was refused. */
  error: unknown;
  onChange(filter: Words<Name>): void;
}

/** The filters of a list. The address keeps them, so that they can be sent to somebody. */
export function FilterForm<Name extends string>({ fields, filter, error, onChange }: FilterFormOptions<Name>) {
  const set = (name: Name, value: string) => {
    const others = Object.entries(filter).filter(([other]) => other !== name);
    onChange(Object.fromEntries(value === '' ? others : [...others, [name, value]]) as Words<Name>);
  };
  return (
    <Form className="filter" search="Filter the list" error={error} onSubmit={() => undefined}>
      {fields.map(({ name, options, ...field }) => {
        const Control = options ? Choice : TextFilter;
        return (
          <Control
            key={name}
            {...field}
            name={name}
            options={options ?? []}
            value={filter[name] ?? ''}
            onChange={(value) => set(name, value)}
          />
        );
      })}
      {Object.keys(filter).length > 0 && (
        <button type="button" onClick={() => onChange({})}>
          Show all
        </button>
      )}
    </Form>
  );
}

interface ControlOptions extends FilterField<string> {
  options: readonly Option[];
  value: string;
  onChange: (value: string) => void;
}

/** A value that is not among the options, for example of a deleted agentflow, is an option too. */
function Choice({ label, name, parameter = name, value, options, onChange }: ControlOptions) {
  return (
    <Field label={label} name={parameter}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">any</option>
          {value !== '' && !options.some((option) => option.value === value) && <option>{value}</option>}
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Waits until the person has stopped typing. */
function TextFilter({ label, name, parameter = name, value, maxLength = 1000, onChange }: ControlOptions) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(typed.trim()), 350);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <Field label={label} name={parameter}>
      {(control) => (
        <input
          {...control}
          type="search"
          value={typed}
          maxLength={maxLength}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
    </Field>
  );
}
