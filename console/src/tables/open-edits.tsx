import { ActionButton } from '../parts.js';
import type { Column } from '../api.js';
import { LifecycleLink } from '../links.js';
import type { CellEdits } from './use-cell-edits.js';
import buttonStyles from '../styles/button.module.css';
import messageStyles from '../styles/message.module.css';
import listStyles from '../styles/lists.module.css';

/** Lists the refused changes with their validation errors. */
export function OpenEdits({ edits, columns }: { edits: CellEdits; columns: readonly Column[] }) {
  const refused = edits.all.filter(({ problem }) => problem !== undefined);
  if (refused.length === 0) return null;
  return (
    <div className={messageStyles.problem} role="alert">
      <ul className={listStyles.plain}>
        {refused.map((edit) => {
          const { rowId, rowNumber, columnId, columnName, text, problem, lifecycle, theirs } = edit;
          const column = columns.find(({ column_id }) => column_id === columnId);
          return (
            <li key={`${rowId} ${columnId}`}>
              Row {rowNumber}, <bdi>{columnName}</bdi>, “<bdi>{text}</bdi>” is not saved: {problem}{' '}
              {lifecycle !== undefined && <LifecycleLink id={lifecycle}>Record {lifecycle}</LifecycleLink>}
              {theirs && (
                <>
                  {' The current value is “'}
                  <bdi>{theirs.text}</bdi>
                  {'”. '}
                  {column && (
                    <ActionButton
                      name="Keep mine"
                      className={buttonStyles.small}
                      onClick={() => void edits.overwrite(edit, column)}
                    />
                  )}
                </>
              )}{' '}
              <ActionButton
                name={theirs ? 'Keep theirs' : 'Discard'}
                className={buttonStyles.small}
                onClick={() => edits.discard(rowId, columnId)}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
