import { paginate } from '@client/page.js';
import { ServiceError } from '@client/service-error.js';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { call, type Table as TableRecordSet, type TableRecord } from '../api.js';
import { curl } from '../curl.js';
import { ActionButton, Empty, Page, Loading, Loaded } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { Table as Rows, type Column } from '../table.js';
import { usePages } from '../use-pages.js';
import { AddRow } from './add-row.js';
import { Cell } from './cell.js';
import { DeleteRows } from './delete-rows.js';
import { DeleteTable } from './delete-table.js';
import { ExportRows } from './export.js';
import { FilterBar } from './filter-bar.js';
import { queryOf, type RowFilter } from './filter.js';
import { ImportRows } from './import.js';
import { OpenEdits } from './open-edits.js';
import { readTables } from './tables.js';
import { useCellEdits } from './use-cell-edits.js';
import { fillableColumns, systemColumns } from './values.js';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';
import tableStyles from '../table.module.css';

const route = getRouteApi('/tables/$tableId');

export function Table() {
  const { tableId } = route.useParams();
  const query = useQuery({ queryKey: ['table', tableId], queryFn: () => readTable(tableId) });
  const filter = route.useSearch();
  return (
    <Page title={query.data?.table_name ?? 'Table'}>
      <Loaded query={query}>{(table) => <Sheet table={table} filter={filter} />}</Loaded>
    </Page>
  );
}

/** The API has no route for a single table, so it searches the list. */
async function readTable(id: string): Promise<TableRecordSet> {
  for await (const table of paginate(readTables, { limit: 200 })) if (table._id === id) return table;
  throw new ServiceError(404, { error: 'not_found', error_description: 'the table was not found' });
}

type Dialog = 'add' | 'import' | 'delete' | 'delete-table';
const deleteTableOperation = 'delete /storage/{projectID}/table/{table_id}';
const deleteOperation = 'delete /storage/{projectID}/table/{table_id}/records/{record_id}';
const selection = { nameOf: ({ row_id }: TableRecord) => `row ${row_id}`, allName: 'Select all loaded rows' };
const keyOf = ({ _id }: TableRecord) => _id;

function Sheet({ table, filter }: { table: TableRecordSet; filter: RowFilter }) {
  const { _id: id, columns } = table;
  const navigate = route.useNavigate();
  const may = useMay();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<Dialog>();
  const change = (search: RowFilter) => void navigate({ search, replace: true });
  const { rows, total, count, error, hasOlder, isStuck, loadOlder, replace, reload } = usePages({
    queryKey: ['records', id, filter],
    counted: ['row', 'rows'],
    load: (page) =>
      call('get', '/storage/{projectID}/table/{table_id}/records', {
        params: { table_id: id },
        query: { ...page, ...queryOf(columns, filter) },
      }),
  });
  const edits = useCellEdits({ tableId: id, onSaved: (row) => replace(({ _id }) => _id === row._id, row) });
  const mayEdit = may('put /storage/{projectID}/table/{table_id}/records/{record_id}');
  const sheetColumns = useSheetColumns(table, filter, change, mayEdit ? edits : undefined);
  const chosen = (rows ?? []).filter(({ _id }) => selected.has(_id));
  const close = () => setDialog(undefined);
  const done = () => {
    setSelected(new Set());
    void reload();
  };
  const isFiltered = filter.column !== undefined;
  return (
    <>
      <FilterBar columns={columns} filter={filter} error={error} onChange={change} />
      <div className={controlStyles.toolbar}>
        <p role="status">{count}</p>
        <Changes count={chosen.length} onOpen={setDialog} />
        <ExportRows table={table} filter={filter} />
        <ActionButton name="Refresh" onClick={() => void reload()} />
      </div>
      {mayEdit && <OpenEdits edits={edits} columns={columns} />}
      {rows === undefined && !error && <Loading />}
      {rows?.length === 0 && <NoRows table={table} isFiltered={isFiltered} />}
      {rows && rows.length > 0 && (
        <Rows
          key={JSON.stringify(filter)}
          name="Rows"
          rows={rows}
          columns={sheetColumns}
          keyOf={keyOf}
          total={total}
          selection={may(deleteOperation) ? { ...selection, selected, onSelect: setSelected } : undefined}
          hasOlder={hasOlder}
          isStuck={isStuck}
          onEnd={loadOlder}
          isSheet
        />
      )}
      {may(deleteTableOperation) && (
        <p className={controlStyles.apart}>
          <ActionButton
            name="Delete table…"
            className={buttonStyles.danger}
            onClick={() => setDialog('delete-table')}
          />
        </p>
      )}
      {dialog === 'add' && <AddRow table={table} onClose={close} onDone={done} />}
      {dialog === 'import' && <ImportRows table={table} onClose={close} onDone={done} />}
      {dialog === 'delete-table' && <DeleteTable table={table} onClose={close} />}
      {dialog === 'delete' && <DeleteRows tableId={id} rows={chosen} onClose={() => (close(), done())} />}
    </>
  );
}

/** Offers the changes that this person may make to the rows. */
function Changes({ count, onOpen }: { count: number; onOpen: (dialog: Dialog) => void }) {
  const may = useMay();
  return (
    <>
      {may('post /storage/{projectID}/table/{table_id}/row') && (
        <>
          <ActionButton name="Add row…" onClick={() => onOpen('add')} />
          <ActionButton name="Import CSV…" onClick={() => onOpen('import')} />
        </>
      )}
      {may(deleteOperation) && (
        <ActionButton
          name={count === 0 ? 'Delete…' : `Delete ${count}…`}
          isDisabled={count === 0}
          onClick={() => onOpen('delete')}
        />
      )}
    </>
  );
}

/** Returns the row id and the columns of the table, each with a header that sorts. */
function useSheetColumns(
  { columns }: TableRecordSet,
  filter: RowFilter,
  onChange: (filter: RowFilter) => void,
  edits: ReturnType<typeof useCellEdits> | undefined,
): Column<TableRecord>[] {
  const { sort = '-row_id' } = filter;
  const visibleColumns = useMemo(
    () => [...columns.filter(({ column_id }) => column_id === 'row_id'), ...fillableColumns(columns)],
    [columns],
  );
  return visibleColumns.map((column) => {
    const { column_id: id, column_name: name, column_type: type } = column;
    const isSorted = sort.replace(/^-/, '') === id;
    const isDescending = sort.startsWith('-');
    return {
      id: `column-${id}`,
      name,
      width: id === 'row_id' ? '8rem' : `minmax(${type === 'date' ? 14 : 11}rem, 1fr)`,
      sorted: isSorted ? (isDescending ? 'descending' : 'ascending') : undefined,
      head: (
        <button
          type="button"
          className={tableStyles.value}
          onClick={() => onChange({ ...filter, sort: isSorted && !isDescending ? `-${id}` : id })}
        >
          <bdi>{name}</bdi> <span aria-hidden="true">{isSorted ? (isDescending ? '↓' : '↑') : ''}</span>
        </button>
      ),
      isNumber: type === 'number',
      cell: (row) => <Cell row={row} column={column} edits={systemColumns.has(id) ? undefined : edits} />,
    };
  });
}

function NoRows({ table, isFiltered }: { table: TableRecordSet; isFiltered: boolean }) {
  if (isFiltered) return <Empty>No rows match this filter.</Empty>;
  const example = Object.fromEntries(
    fillableColumns(table.columns)
      .slice(0, 2)
      .map(({ column_id, column_type }) => [column_id, column_type === 'string' ? 'text' : 1]),
  );
  const command = curl(`storage/${projectId}/table/${table._id}/row`, [example]);
  return (
    <Empty command={command}>
      This table has no rows yet. Add a row, import a CSV file, or insert up to 1,000 rows with this command:
    </Empty>
  );
}
