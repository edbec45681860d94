import { TextFilter } from './runs/filter-bar.js';
import { sinceNames } from './runs/filter.js';
import type { Words } from './words.js';

export interface FilterField<Name extends string> {
  name: Name;
  label: string;
  /** The values, with what people read; left out for text. */
  options?: Readonly<Record<string, string>>;
}

export const sinceField = { name: 'since', label: 'In', options: sinceNames } as const;

/** Options that people read as they are named. */
export const named = (...values: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(values.map((value) => [value, value.replaceAll('_', ' ')]));

interface FilterFormOptions<Name extends string> {
  fields: readonly FilterField<Name>[];
  filter: Words<Name>;
  onChange(filter: Words<Name>): void;
}

export function FilterForm<Name extends string>({ fields, filter, onChange }: FilterFormOptions<Name>) {
  const set = (name: Name, value: string) => {
    const others = Object.entries(filter).filter(([other]) => other !== name);
    onChange(Object.fromEntries(value === '' ? others : [...others, [name, value]]) as Words<Name>);
  };
  return (
    <form className="filter" role="search" aria-label="Filter the list" onSubmit={(event) => event.preventDefault()}>
      {fields.map(({ name, label, options }) =>
        options === undefined ? (
          <TextFilter key={name} label={label} text={filter[name] ?? ''} onChange={(text) => set(name, text)} />
        ) : (
          <label key={name}>
            {label}
            <select value={filter[name] ?? ''} onChange={(event) => set(name, event.target.value)}>
              <option value="">any</option>
              {Object.entries(options).map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        ),
      )}
      {Object.keys(filter).length > 0 && (
        <button type="button" onClick={() => onChange({})}>
          Show all
        </button>
      )}
    </form>
  );
}
