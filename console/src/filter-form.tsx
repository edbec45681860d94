import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { capitalized, inWords } from './api.js';
import { Form, SelectField, TextField, type Option } from './field.js';
import { ActionButton } from './parts.js';
import { sinceNames } from './runs/filter.js';
import type { SearchParams } from './search-params.js';
import formStyles from './styles/form.module.css';

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

/** Returns options whose labels are their values, with spaces for underscores. */
export const named = (...values: readonly string[]): readonly Option[] =>
  values.map((value) => ({ value, name: capitalized(inWords(value)) }));

export interface FilterFormOptions<Name extends string> {
  fields: readonly FilterField<Name>[];
  filter: SearchParams<Name>;
  error: unknown;
  /** By default, the filter becomes the query string of the page. */
  onChange?(filter: SearchParams<Name>): void;
}

/** Renders the filters of a list. The URL contains them, so that people can share it. */
export function FilterForm<Name extends string>(props: FilterFormOptions<Name>) {
  const navigate = useNavigate();
  const {
    fields,
    filter,
    error,
    onChange = (search) => void navigate({ to: '.', search, replace: true } as never),
  } = props;
  const set = (name: Name, value: string) => {
    const others = Object.entries(filter).filter(([other]) => other !== name);
    onChange(Object.fromEntries(value === '' ? others : [...others, [name, value]]) as SearchParams<Name>);
  };
  return (
    <Form className={formStyles.filter} search="Filter the list" error={error} onSubmit={() => undefined}>
      {fields.map(({ name, label, parameter = name, options, maxLength }) => {
        const field = { label, name: parameter, onChange: (value: string) => set(name, value) };
        const value = filter[name] ?? '';
        return options ? (
          <SelectField key={name} {...field} value={value} options={[{ value: '', name: 'Any' }, ...options]} />
        ) : (
          <TextFilter key={name} {...field} value={value} maxLength={maxLength} />
        );
      })}
      {Object.keys(filter).length > 0 && <ActionButton name="Clear filters" onClick={() => onChange({})} />}
    </Form>
  );
}

interface TextFilterOptions {
  label: string;
  name: string;
  value: string;
  maxLength: number | undefined;
  onChange: (value: string) => void;
}

/** Applies the filter after the person has stopped typing. */
function TextFilter({ value, maxLength = 1000, onChange, ...field }: TextFilterOptions) {
  const [typed, setTyped] = useState(value);
  const applied = useRef(value);
  useEffect(() => {
    // The person may have typed more since the filter was applied.
    if (value !== applied.current) setTyped(value);
    applied.current = value;
  }, [value]);
  useEffect(() => {
    const next = typed.trim();
    if (next === applied.current) return undefined;
    const timer = setTimeout(() => {
      applied.current = next;
      onChange(next);
    }, 350);
    return () => clearTimeout(timer);
  }, [typed, onChange]);
  return <TextField {...field} type="search" text={typed} maxLength={maxLength} onChange={setTyped} />;
}
