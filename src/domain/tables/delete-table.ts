import { z } from 'zod';
import { Id } from '../../base/ids.js';
import { notFound } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import { deleteConnectorCompletely } from '../connectors/operations/setup.js';
import { defineOperation, writes } from '../operation.js';
import type { Deps } from '../deps.js';
import { rowsOf } from './record.js';
import { TableKey } from './schemas.js';

/**
 * Deletes a table with its rows and its connector. From the first step on, readers and writers do not find the table. A
 * repeat completes a deletion that a crash interrupted, and throws `not_found`. The connector is deleted last, so that
 * a repeat can find the interrupted deletion by it.
 */
export const deleteTable = defineOperation({
  name: 'table.delete',
  ...writes,
  facts: textFacts('table_id'),
  key: TableKey,
  output: z.object({ _id: Id, table_name: z.string().meta({ example: 'Leads' }) }).meta({ id: 'DeletedTable' }),
  async run({ deps, ctx: { principal }, key: { table_id: _id } }) {
    const { tables, connectors } = deps.mongo.collections;
    const { projectId: projectID, organizationId } = principal;
    const table = await tables.findOneAndDelete({ _id, projectID });
    const connector = await connectors.findOne({ projectID, table_id: _id, is_deleted: false });
    if (table || connector) await removeRows(deps, organizationId, _id);
    if (connector) await deleteConnectorCompletely(deps, connector);
    if (!table) throw notFound('the table');
    return { _id, table_name: table.table_name };
  },
});

/** Deletes the tables of a deleted project, whose connectors have been deleted. Safe to repeat. */
export async function removeTables(
  deps: Pick<Deps, 'mongo' | 'customers'>,
  { projectID, organization_id }: { projectID: string; organization_id: string },
): Promise<void> {
  const { tables } = deps.mongo.collections;
  for await (const { _id } of tables.find({ projectID }, { projection: { _id: 1 } })) {
    await removeRows(deps, organization_id, _id);
    await tables.deleteOne({ _id });
  }
}

/** Also frees the place of the table in the limit of the plan. */
async function removeRows(
  { mongo, customers }: Pick<Deps, 'mongo' | 'customers'>,
  organizationId: string,
  tableId: string,
): Promise<void> {
  await rowsOf(mongo, tableId).drop();
  await customers.release(organizationId, 'number_of_tables', tableId);
}
