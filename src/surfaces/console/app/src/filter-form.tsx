import { useEffect, useState } from 'react';
import { Field, Form } from './field.js';
import { sinceNames } from './runs/filter.js';
import type { SearchParams } from './search-params.js';

export interface Option {
  value: string;
  /** The label. */
  name: string;
}

export interface FilterField<Name extends string> {
  name: Name;
  label: string;
  /** The API parameter, if its name differs. */
  parameter?: string;
  /** Undefined for a text field. */
  options?: readonly Option[];
  /** For a text field; 1000 by default. */
  maxLength?: number;
}

const sinceOptions = Object.entries(sinceNames).map(([value, name]) => ({ value, name }));
export const sinceField = { name: 'since', label: 'Time range', parameter: 'from', options: sinceOptions } as const;

/** Returns options whose labels equal their values, with spaces for underscores. */
export const named = (...values: readonly string[]): readonly Option[] =>
  values.map((value) => ({ value, name: value.replaceAll('_', ' ') }));

export interface FilterFormOptions<Name extends string> {
  fields: readonly FilterField<Name>[];
  filter: SearchParams<Name>;
  /** The error of the list. */
  error: unknown;
  onChange(filter: SearchParams<Name>): void;
}

/** Renders the filters of a list. The URL contains them, so that people can share it. */
export function FilterForm<Name extends string>({ fields, filter, error, onChange }: FilterFormOptions<Name>) {
  const set = (name: Name, value: string) => {
    const others = Object.entries(filter).filter(([other]) => other !== name);
    onChange(Object.fromEntries(value === '' ? others : [...others, [name, value]]) as SearchParams<Name>);
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
          Clear filters
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

/** The current value is always an option, for example the id of a deleted agentflow. */
function Choice({ label, name, parameter = name, value, options, onChange }: ControlOptions) {
  return (
    <Field label={label} name={parameter}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">Any</option>
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

/** Applies the filter after the person has stopped typing. */
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
