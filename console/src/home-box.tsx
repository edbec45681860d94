import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Problem } from './parts.js';
import { numberText } from './quantity.js';
import listStyles from './styles/lists.module.css';
import panelStyles from './panel.module.css';

/** `bad` for what failed, and `held` for what waits for a person. */
export type Tone = 'bad' | 'held';

interface BoxOptions {
  name: string;
  /** Undefined while it loads. */
  count: number | undefined;
  isMore?: boolean | undefined;
  /** Shown instead of a count that says nothing. */
  allName?: string;
  /** The list of the counted entries. */
  link: Pick<LinkProps, 'to' | 'search'>;
  error: unknown;
  tone?: Tone | undefined;
  /** The first entries. */
  rows: ReactNode;
  children?: ReactNode;
}

/** Shows a count on Home with its first entries. Nothing for a count of zero, which `Count` shows. */
export function Box({ name, count = 0, isMore, allName, link, error, tone, rows, children }: BoxOptions) {
  if (count === 0) return error ? <Problem error={error} what={name} /> : null;
  return (
    <section className={`${panelStyles.panel} ${tone ? panelStyles[tone] : ''}`} aria-label={name}>
      <h2>{name}</h2>
      {allName === undefined && (
        <p className={panelStyles.number}>
          <Link {...link} aria-label={`${name}: ${countText(count, isMore)}`}>
            {countText(count, isMore)}
          </Link>
        </p>
      )}
      <ul className={listStyles.rows}>{rows}</ul>
      {allName !== undefined && <Link {...link}>{allName}</Link>}
      {children}
    </section>
  );
}

type CountOptions = Pick<BoxOptions, 'name' | 'count' | 'isMore' | 'link'>;

/** Shows a count on one line, as a link to its list. */
export function Count({ name, count, isMore, link }: CountOptions) {
  if (count === undefined) return null;
  return (
    <li>
      <Link {...link}>
        {name}: {countText(count, isMore)}
      </Link>
    </li>
  );
}

const countText = (count: number, isMore = false): string => `${isMore ? 'More than ' : ''}${numberText(count)}`;
