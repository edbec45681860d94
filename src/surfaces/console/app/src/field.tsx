import { useId, type ReactNode } from 'react';

export interface FieldControl {
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
}

interface FieldOptions {
  label: string;
  hint?: ReactNode;
  /** What the API says about the value. */
  problem?: string | undefined;
  /** The control, which takes these attributes. */
  children: (control: FieldControl) => ReactNode;
}

/** A control with its name, a hint, and the reason why its value was refused. */
export function Field({ label, hint, problem, children }: FieldOptions) {
  const id = useId();
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
