import { useRef, useState } from 'react';
import { call, type TableRecord } from '../api.js';
import { ErrorText, Window } from '../parts.js';
import { quantity } from '../quantity.js';

interface DeleteOptions {
  tableId: string;
  rows: readonly TableRecord[];
  onClose: () => void;
  onDone: () => void;
}

/** Deletes rows one by one, and says why any of them could not be deleted. */
export function DeleteRows({ tableId, rows, onClose, onDone }: DeleteOptions) {
  const [rowsToDelete] = useState(rows);
  const [done, setDone] = useState(0);
  const [refused, setRefused] = useState<readonly { row: number; error: unknown }[]>([]);
  const [state, setState] = useState<'asked' | 'busy' | 'over'>('asked');
  const stopped = useRef(false);
  const count = quantity(rowsToDelete.length, 'row');
  const start = async () => {
    setState('busy');
    let failures = 0;
    for (const { _id, row_id } of rowsToDelete) {
      if (stopped.current) break;
      try {
        await call('delete', '/storage/{projectID}/table/{table_id}/records/{record_id}', {
          params: { table_id: tableId, record_id: _id },
        });
        setDone((known) => known + 1);
      } catch (failure) {
        failures += 1;
        setRefused((known) => [...known, { row: row_id, error: failure }]);
      }
    }
    onDone();
    // The person may have opened another dialog since.
    if (stopped.current) return;
    if (failures === 0) onClose();
    else setState('over');
  };
  const close = () => {
    stopped.current = true;
    onClose();
  };
  return (
    <Window title={`Delete ${count}?`} onClose={close}>
      {state === 'asked' ? (
        <>
          <p>This cannot be undone. Row ids are not reused.</p>
          <p className="actions">
            <button type="button" className="danger" autoFocus onClick={() => void start()}>
              Delete {count}
            </button>
          </p>
        </>
      ) : (
        <p role="status">
          {done} of {rowsToDelete.length} deleted.
        </p>
      )}
      <ul className="results">
        {refused.map(({ row, error }) => (
          <li key={row} className="bad">
            Row {row}: <ErrorText error={error} />
          </li>
        ))}
      </ul>
    </Window>
  );
}
