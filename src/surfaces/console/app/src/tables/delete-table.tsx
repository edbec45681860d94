import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, type Table } from '../api.js';
import { Confirm } from '../confirm.js';
import { projectId } from '../session.js';

/** Deletes a table after the person has typed its name. */
export function DeleteTable({ table, onClose }: { table: Table; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const navigate = useNavigate();
  const { _id, table_name } = table;
  const act = async () => {
    if (typed.trim() !== table_name) throw new Error(`Type the name of the table: ${table_name}`);
    await call('delete', '/storage/{projectID}/table/{table_id}', { params: { table_id: _id } });
  };
  return (
    <Confirm
      title={`Delete ${table_name}?`}
      action="Delete the table"
      isFinal
      act={act}
      invalidates={[['tables']]}
      onDone={() => void navigate({ to: '/projects/$projectId/tables', params: { projectId } })}
      onClose={onClose}
    >
      <p>All its rows and its connector are deleted as well. Agents that use it fail. This cannot be undone.</p>
      <label>
        Name of the table
        <input value={typed} autoComplete="off" autoFocus onChange={(event) => setTyped(event.target.value)} />
      </label>
    </Confirm>
  );
}
