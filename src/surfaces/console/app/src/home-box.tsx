import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Problem } from './parts.js';

interface BoxOptions {
  name: string;
  /** Undefined while it loads. */
  count: string | undefined;
  /** The list of the counted entries. */
  link?: Pick<LinkProps, 'to' | 'search'>;
  /** The accessible name of the link: the name and the count by default. */
  linkName?: string;
  error: unknown;
  /** The first entries. */
  rows?: ReactNode;
  children?: ReactNode;
}

/** Shows a count on Home, with its first entries. */
export function Box({ name, count = '…', link, linkName = `${name}: ${count}`, error, rows, children }: BoxOptions) {
  return (
    <section className="panel" aria-label={name}>
      <h2>{name}</h2>
      <Problem error={error} />
      <p className="number">
        {link && count !== '…' ? (
          <Link {...link} aria-label={linkName}>
            {count}
          </Link>
        ) : (
          count
        )}
      </p>
      {rows && <ul className="rows">{rows}</ul>}
      {children}
    </section>
  );
}
