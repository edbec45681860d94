import { TextField } from '../field.js';
import { numberIn } from '../number-in.js';
import { text } from './document.js';

interface NumberOptions {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  value: unknown;
  /** Called with undefined for an empty field. */
  onChange: (value: unknown) => void;
}

export function NumberField({ value, onChange, ...field }: NumberOptions) {
  return (
    <TextField
      {...field}
      inputMode="decimal"
      text={typeof value === 'number' ? String(value) : text(value)}
      onChange={(typed) => onChange(typed === '' ? undefined : whileTyping(typed))}
      onBlur={() => typeof value === 'string' && onChange(numberIn(value))}
    />
  );
}

/** Keeps "1." and "0.10" as text until the person leaves the field. */
function whileTyping(typed: string): number | string {
  const number = numberIn(typed);
  return String(number) === typed ? number : typed;
}
