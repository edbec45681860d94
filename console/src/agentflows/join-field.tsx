import { SelectField } from '../field.js';
import { isFields, text } from './document.js';
import { NumberField } from './number-field.js';

interface JoinOptions {
  label: string;
  problem: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** Edits how many branches have to succeed. */
export function JoinField({ label, problem, value, onChange }: JoinOptions) {
  const hasCount = isFields(value);
  return (
    <>
      <SelectField
        label={label}
        problem={hasCount ? undefined : problem}
        value={hasCount ? 'count' : text(value) || 'all'}
        options={[
          { value: 'all', name: 'All branches' },
          { value: 'any', name: 'The first branch that succeeds' },
          { value: 'count', name: 'A number of branches' },
        ]}
        onChange={(join) => onChange(join === 'count' ? { count: 2 } : join)}
      />
      {hasCount && (
        <NumberField
          label="Number of branches"
          problem={problem}
          value={value.count}
          onChange={(count) => onChange({ count })}
        />
      )}
    </>
  );
}
