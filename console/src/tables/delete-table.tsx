import { useNavigate } from '@tanstack/react-router';
import { call, validationError, type Table } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { useDraft } from '../use-draft.js';

/** Deletes a table after the person has typed its name. */
export function DeleteTable({ table, onClose }: { table: Table; onClose: () => void }) {
  const navigate = useNavigate();
  const { _id, table_name } = table;
  const [typed, setTyped] = useDraft(`table.${_id}.delete`);
  const act = async () => {
    if (typed.trim() !== table_name) throw validationError('name', `must be ${table_name}`);
    await call('delete', '/storage/{projectID}/table/{table_id}', { params: { table_id: _id } });
  };
  return (
    <Confirm
      title={`Delete ${table_name}?`}
      action="Delete table"
      isFinal
      act={act}
      invalidates={[['tables']]}
      onDone={() => void navigate({ to: '/tables' })}
      onClose={onClose}
    >
      <p>
        This also deletes all rows and the connector of the table. Agents that use the table fail. This cannot be
        undone.
      </p>
      <TextField label="Table name" name="name" text={typed} onChange={setTyped} autoFocus />
    </Confirm>
  );
}
