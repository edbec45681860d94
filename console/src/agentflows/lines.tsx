import { TextField } from '../field.js';

interface LinesOptions {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  value: unknown;
  onChange: (lines: string[]) => void;
}

const isBlank = (line: string) => line.trim() === '';

/** Edits a list of strings, one per line. Any other value can only be edited as JSON. */
export function Lines({ value = [], onChange, ...field }: LinesOptions) {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return null;
  return (
    <TextField
      {...field}
      rows={2}
      text={value.join('\n')}
      onChange={(typed) => onChange(typed === '' ? [] : typed.split('\n'))}
      onBlur={() => value.some(isBlank) && onChange(value.filter((line) => !isBlank(line)))}
    />
  );
}
