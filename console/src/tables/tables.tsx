import type { Page as TablePage, PageQuery } from '@client/page.js';
import { call, type Table } from '../api.js';
import { curl } from '../curl.js';
import { List } from '../list.js';
import { ActionButton, Empty, Page } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { column, type Column } from '../table.js';
import { useDialog } from '../use-dialog.js';
import { CreateTable } from './create-table.js';
import { fillableColumns } from './values.js';
import { TableLink } from '../links.js';
import buttonStyles from '../styles/button.module.css';

const columns: readonly Column<Table>[] = [
  column('Name', { width: 'minmax(12rem, 2fr)', onNarrow: 'main' }, ({ _id, table_name }) => (
    <TableLink id={_id}>
      <bdi>{table_name}</bdi>
    </TableLink>
  )),
  column('Last row id', { width: '8rem' }, ({ last_row_id }) => last_row_id),
  column('Columns', { width: 'minmax(12rem, 3fr)', onNarrow: 'hidden' }, (table) => {
    const names = fillableColumns(table.columns).map(({ column_name }) => column_name);
    return <bdi title={names.join(', ')}>{names.join(', ')}</bdi>;
  }),
];

export async function readTables(query: PageQuery): Promise<TablePage<Table>> {
  const { tables: data, ...page } = await call('get', '/storage/{projectID}', { query });
  return { ...page, data };
}

export function Tables() {
  const may = useMay();
  const [dialog, setDialog] = useDialog();
  const mayCreate = may('post /storage/{projectID}/table');
  const command = curl(`storage/${projectId}/table`, {
    table_name: 'Leads',
    columns: [
      { column_name: 'Company', column_type: 'string' },
      { column_name: 'Price', column_type: 'number' },
    ],
  });
  return (
    <Page title="Tables">
      <List
        name="Tables"
        counted={['table', 'tables']}
        queryKey={['tables']}
        load={readTables}
        columns={columns}
        keyOf={({ _id }) => _id}
        empty={<Empty command={command}>This project has no tables yet. Create one here, or with this command:</Empty>}
        tools={
          mayCreate && (
            <ActionButton name="New table…" className={buttonStyles.primary} onClick={() => setDialog('create')} />
          )
        }
      />
      {dialog === 'create' && mayCreate && <CreateTable onClose={() => setDialog(undefined)} />}
    </Page>
  );
}
