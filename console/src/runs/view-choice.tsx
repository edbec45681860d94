import { useState } from 'react';
import { TextField } from '../field.js';
import { ActionButton } from '../parts.js';
import type { RunFilter } from './filter.js';
import { useSavedViews, type SavedView } from './saved-views.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import styles from './column-choice.module.css';

interface ViewOptions {
  filter: RunFilter;
  columns: readonly string[];
  onChoose: (view: SavedView) => void;
}

/** Keeps the filter and the columns of the list under a name, and shows what was kept. */
export function ViewChoice({ filter, columns, onChoose }: ViewOptions) {
  const { views, isFull, save, remove } = useSavedViews();
  const [name, setName] = useState('');
  const [done, setDone] = useState('');
  const trimmed = name.trim();
  const isKnown = views.some((view) => view.name === trimmed);
  return (
    <details className={styles.panel}>
      <summary>Views</summary>
      <div className={styles.content}>
        {views.length === 0 && (
          <p className={textStyles.soft}>A view keeps the filter and the columns of this list in this browser.</p>
        )}
        <ul aria-label="Saved views">
          {views.map((view) => (
            <li key={view.name}>
              <button
                type="button"
                className={buttonStyles.plain}
                onClick={() => {
                  onChoose(view);
                  setDone(`${view.name} is shown.`);
                }}
              >
                <bdi>{view.name}</bdi>
              </button>
              <ActionButton
                name="Remove"
                aria-label={`Remove the view ${view.name}`}
                className={buttonStyles.small}
                onClick={() => {
                  remove(view.name);
                  setDone(`${view.name} is removed.`);
                }}
              />
            </li>
          ))}
        </ul>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (trimmed === '' || (isFull && !isKnown)) return;
            save({ name: trimmed, filter, columns });
            setDone(`${trimmed} is saved.`);
            setName('');
          }}
        >
          <TextField
            label="Name of this view"
            hint={isFull ? 'There are 50 views. Remove one to save another.' : undefined}
            text={name}
            maxLength={60}
            onChange={setName}
          />
          <button disabled={trimmed === ''}>{isKnown ? 'Replace view' : 'Save view'}</button>
        </form>
        <p role="status">{done}</p>
      </div>
    </details>
  );
}
