import { ActionButton } from '../parts.js';
import type { Column } from '../api.js';
import { LifecycleLink } from '../links.js';
import type { CellEdits } from './use-cell-edits.js';

/** Lists the refused changes with their validation errors. */
export function OpenEdits({ edits, columns }: { edits: CellEdits; columns: readonly Column[] }) {
  const refused = edits.all.filter(({ problem }) => problem !== undefined);
  if (refused.length === 0) return null;
  return (
    <div className="problem" role="alert">
      <ul className="unmarked">
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
                      className="small"
                      onClick={() => void edits.overwrite(edit, column)}
                    />
                  )}
                </>
              )}{' '}
              <ActionButton
                name={theirs ? 'Keep theirs' : 'Discard'}
                className="small"
                onClick={() => edits.discard(rowId, columnId)}
              />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
