import type { ReactNode } from 'react';
import styles from './facts.module.css';

/** Lists names with their values. Names without a value are left out. */
export function Facts({ of }: { of: Readonly<Record<string, ReactNode>> }) {
  const filled = Object.entries(of).filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  );
  return (
    <dl className={styles.facts}>
      {filled.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
