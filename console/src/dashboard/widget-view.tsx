import type { CSSProperties } from 'react';
import { inWords, capitalized } from '../api.js';
import { ScrollTable } from '../parts.js';
import { Time } from '../time.js';
import { shownOf, textOf, type Shown, type Widget } from './widget-data.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import styles from './dashboard.module.css';

/** How many records of a state a board names. */
const namedRecords = 5;

/** Shows the last result of a widget, or why there is none. */
export function WidgetView({ widget }: { widget: Widget }) {
  if (widget.error !== null)
    return (
      <p className={messageStyles.problem} role="alert">
        {capitalized(widget.error)}
      </p>
    );
  const shown = shownOf(widget);
  switch (shown.kind) {
    case 'nothing':
      return <p className={textStyles.soft}>The last refresh found no data.</p>;
    case 'number':
      return (
        <p className={styles.number}>
          <strong>{textOf(shown.value)}</strong> {inWords(shown.name)}
        </p>
      );
    case 'bars':
      return <Bars title={widget.title} {...shown} />;
    case 'board':
      return <Board {...shown} />;
    case 'table':
      return (
        <ScrollTable label={`Values of ${widget.title}`} head={shown.columns.map(headOf)}>
          {shown.rows.map((row, at) => (
            <tr key={at}>
              {shown.columns.map((name) => (
                <td key={name}>
                  <bdi>{textOf(row[name])}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </ScrollTable>
      );
  }
}

const headOf = (name: string) => (name === '_id' ? 'Id' : capitalized(inWords(name)));

/** A table whose numbers have a bar each. */
function Bars({ title, measure, bars }: Extract<Shown, { kind: 'bars' }> & { title: string }) {
  const largest = Math.max(...bars.map(({ value }) => Math.abs(value)), Number.MIN_VALUE);
  return (
    <ScrollTable label={`Values of ${title}`} head={['Name', headOf(measure)]}>
      {bars.map(({ name, value }, at) => (
        <tr key={at}>
          <th scope="row">
            <bdi>{name}</bdi>
          </th>
          <td className={styles.value}>
            <span
              className={styles.bar}
              style={{ '--part': `${(Math.abs(value) / largest) * 100}%` } as CSSProperties}
              aria-hidden="true"
            />
            {textOf(value)}
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function Board({ groups }: Extract<Shown, { kind: 'board' }>) {
  return (
    <div className={styles.board}>
      {groups.map(({ status, records }) => (
        <section key={status} aria-label={capitalized(inWords(status))}>
          <p>
            <strong>{capitalized(inWords(status))}</strong> {records.length}
          </p>
          <ul>
            {records.slice(0, namedRecords).map(({ _id, name, created_at }, at) => (
              <li key={at}>
                <bdi>{textOf(name ?? _id)}</bdi>{' '}
                <span className={textStyles.soft}>{typeof created_at === 'number' && <Time at={created_at} />}</span>
              </li>
            ))}
          </ul>
          {records.length > namedRecords && (
            <p className={textStyles.soft}>and {records.length - namedRecords} earlier ones</p>
          )}
        </section>
      ))}
    </div>
  );
}
