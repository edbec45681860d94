import { TextField } from '../field.js';
import type { FormOptions } from './agent-form.js';
import { isFields, text } from './document.js';
import { NumberField } from './number-field.js';

/** Edits how many runs go on at once. Without any value, the number is not limited. */
export function ConcurrencyFields({ document, problems, onChange }: FormOptions) {
  const { concurrency } = document;
  const values = isFields(concurrency) ? concurrency : {};
  const set = (name: string) => (value: unknown) => {
    const next = { limit: null, key: null, limit_per_key: null, ...values, [name]: value ?? null };
    const isEmpty = Object.values(next).every((each) => each === null);
    onChange({ ...document, concurrency: isEmpty ? null : next });
  };
  return (
    <>
      <NumberField
        label="Maximum runs at once"
        hint="Other runs wait for their turn. Leave empty for no limit."
        problem={problems['concurrency.limit'] ?? problems.concurrency}
        value={values.limit}
        onChange={set('limit')}
      />
      <TextField
        label="Concurrency key"
        hint="A Liquid template, for example {{ customer_id }}. Runs with the same text take turns."
        problem={problems['concurrency.key']}
        text={text(values.key)}
        onChange={(key) => set('key')(key || null)}
      />
      <NumberField
        label="Maximum runs at once for each key"
        problem={problems['concurrency.limit_per_key']}
        value={values.limit_per_key}
        onChange={set('limit_per_key')}
      />
    </>
  );
}
