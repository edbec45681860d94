import type { ReactNode } from 'react';

/** Lists names with their values. Rows without a value are left out. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  const filledRows = rows.filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  );
  return (
    <dl className="facts">
      {filledRows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
