import type { ReactNode } from 'react';
import { Problem } from './parts.js';

interface BoxOptions {
  name: string;
  /** Undefined while it loads. */
  count: string | undefined;
  /** Links the count to the list of the counted entries. */
  link?: (text: string) => ReactNode;
  error: unknown;
  children: ReactNode;
}

/** Shows a count on Home, with its first entries. */
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
