import { useState } from 'react';
import { Data, Problem, Time } from '../parts.js';
import type { useEvents } from './use-events.js';

export function Events({ events, words, progress, error }: ReturnType<typeof useEvents>) {
  const [type, setType] = useState('');
  const types = [...new Set(events.map((event) => event.type))].sort();
  const shown = events.filter((event) => type === '' || event.type === type).reverse();
  return (
    <>
      {words !== '' && (
        <section aria-labelledby="words">
          <h2 id="words">The model writes</h2>
          <p className="text">{words}</p>
        </section>
      )}
      {progress && (
        <section aria-labelledby="progress">
          <h2 id="progress">The tool reports</h2>
          <p>
            {progress.total !== null && <progress value={progress.progress} max={progress.total} />} {progress.progress}{' '}
            {progress.total !== null && `of ${progress.total}`} <bdi>{progress.message}</bdi>
          </p>
        </section>
      )}
      <section aria-labelledby="events">
        <h2 id="events">Events</h2>
        <Problem error={error} />
        <label className="inline">
          Kind{' '}
          <select value={type} onChange={(event) => setType(event.target.value)}>
            <option value="">all</option>
            {types.map((name) => (
              <option key={name} value={name}>
                {name.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        {events.length === 0 && <p className="note">Nothing has happened yet.</p>}
        <ul className="rows">
          {shown.slice(0, 200).map((event) => (
            <li key={event.seq}>
              <details>
                <summary>
                  <span className="soft">{event.seq}</span> {event.type.replaceAll('_', ' ')}{' '}
                  <span className="soft">
                    <Time at={event.at} />
                  </span>
                </summary>
                <Data value={event.data} label={`Event ${event.seq}`} />
              </details>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
