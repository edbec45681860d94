import { call, type TableRecord } from '../api.js';
import { Each } from '../each.js';

interface DeleteOptions {
  tableId: string;
  rows: readonly TableRecord[];
  onClose: () => void;
}

/** Deletes rows. The dialog stays open if some of them could not be deleted. */
export function DeleteRows({ tableId, rows, onClose }: DeleteOptions) {
  return (
    <Each
      action="Delete"
      isFinal
      noun="row"
      records={rows}
      keyOf={({ _id }) => _id}
      nameOf={({ row_id }) => `Row ${row_id}`}
      act={async ({ _id }) => {
        const params = { table_id: tableId, record_id: _id };
        await call('delete', '/storage/{projectID}/table/{table_id}/records/{record_id}', { params });
        return 'deleted';
      }}
      onEnd={(failures) => void (failures === 0 && onClose())}
      onClose={onClose}
    >
      <p>This cannot be undone. Row ids are not reused.</p>
    </Each>
  );
}
