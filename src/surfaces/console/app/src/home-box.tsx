import type { ReactNode } from 'react';
import { Problem } from './parts.js';

interface BoxOptions {
  name: string;
  /** Undefined until it is known. */
  count: string | undefined;
  /** Leads to the list that the count is of. */
  link?: (text: string) => ReactNode;
  error: unknown;
  children: ReactNode;
}

/** A number of Home with its first entries. */
export function Box({ name, count, link = (text) => text, error, children }: BoxOptions) {
  return (
    <section className="panel" aria-label={name}>
      <h2>{name}</h2>
      <Problem error={error} />
      <p className="number">{count === undefined ? '…' : link(count)}</p>
      {children}
    </section>
  );
}
