import { useState } from 'react';
import { capitalized, inWords } from '../api.js';
import { SelectField } from '../field.js';
import { named } from '../filter-form.js';
import { Data, Problem, Section } from '../parts.js';
import { Time } from '../time.js';
import type { useEvents } from './use-events.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import listStyles from '../styles/lists.module.css';
import formStyles from '../styles/form.module.css';
import styles from './streamed.module.css';

type Followed = ReturnType<typeof useEvents>;

/** Shows the progress of the current step. Growing text stays scrolled to its end. */
export function StepProgress({ modelText, progress }: Followed) {
  return (
    <>
      {modelText !== '' && (
        <Section title="Model output">
          <div className={styles.growing} tabIndex={0} role="region" aria-label="Streamed text">
            <p className={styles.text}>{modelText}</p>
          </div>
        </Section>
      )}
      {progress && (
        <Section title="Tool progress">
          <p>
            {progress.total !== null && <progress value={progress.progress} max={progress.total} />} {progress.progress}{' '}
            {progress.total !== null && `of ${progress.total}`} <bdi>{progress.message}</bdi>
          </p>
        </Section>
      )}
    </>
  );
}

/** Returns the text that says what an event is about. */
function subjectOf(data: Record<string, unknown>, namesById: ReadonlyMap<string, string>): string {
  const { name, title, step_id, agent_id, reason, message } = data;
  const found = [name, title, step_id, agent_id, reason, message].find((value) => typeof value === 'string') ?? '';
  return namesById.get(found) ?? found;
}

interface EventsOptions extends Followed {
  /** The names of agents and steps. */
  namesById: ReadonlyMap<string, string>;
}

export function Events({ events, error, namesById }: EventsOptions) {
  const [type, setType] = useState('');
  const types = [...new Set(events.map((event) => event.type))].sort();
  const matching = events.filter((event) => type === '' || event.type === type).reverse();
  return (
    <Section title="Events">
      <Problem error={error} />
      <div className={formStyles.filter}>
        <SelectField
          label="Type"
          value={type}
          options={[{ value: '', name: 'All' }, ...named(...types)]}
          onChange={setType}
        />
      </div>
      {events.length === 0 && <p className={messageStyles.empty}>No events yet.</p>}
      <ul className={listStyles.rows}>
        {matching.slice(0, 200).map((event) => (
          <li key={event.seq}>
            <details>
              <summary>
                <span className={textStyles.soft}>
                  {event.seq} <Time at={event.at} isExact />
                </span>{' '}
                {capitalized(inWords(event.type))}{' '}
                <bdi className={textStyles.soft}>{subjectOf({ ...event.data }, namesById)}</bdi>
              </summary>
              <Data value={event.data} label={`Event ${event.seq}`} />
            </details>
          </li>
        ))}
      </ul>
    </Section>
  );
}
