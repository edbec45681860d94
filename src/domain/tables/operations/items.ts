import type { Filter } from 'mongodb';
import type { ItemsQuery } from '../../../../workflows/agentflow-execution/flow/map-step.js';
import { isAppError } from '../../../base/errors.js';
import type { Mongo } from '../../../stores/mongo.js';
import { compileConditions } from '../filter.js';
import { findRows, orderOf, positionAfter, type Order } from '../pages.js';
import { readTable, rowsOf, toRecord, type RowDocument, type TableDocument } from '../record.js';
import { readFinished } from '../records.js';
import { maxFilterLength, type TableRecord } from '../schemas.js';

type Tables = Pick<Mongo, 'db' | 'collections'>;

/** Rows of a table as items of a `map`. */
export interface ItemsOfTable {
  /** The number of rows; at most `limit`. */
  count(limit: number): Promise<number>;
  /** The next rows, in order. */
  readAfter(last: TableRecord | undefined, limit: number): Promise<TableRecord[]>;
}

/** @throws AppError `not_found` if the project does not have the table, `invalid_request` if it lacks a column of the query */
export async function openItems(mongo: Tables, projectId: string, query: ItemsQuery): Promise<ItemsOfTable> {
  const { table_id, filter = {}, sort } = query;
  const table = await readFinished(mongo, projectId, table_id);
  const compiled: Filter<RowDocument> = compileConditions(table.columns, filter);
  const order: Order = orderOf(table.columns, sort);
  const rows = rowsOf(mongo, table_id);
  return {
    count: (limit) => rows.countDocuments(compiled, { limit }),
    async readAfter(last, limit) {
      const position = last && positionAfter(order, last);
      return (await findRows(rows, compiled, order, position, limit)).map((row) => toRecord(table, row));
    },
  };
}

/** Why the rows cannot be items of a `map`: an unknown table, columns that it does not have, values of another type. */
export async function queryProblems(
  mongo: { collections: Pick<Mongo['collections'], 'tables'> },
  projectId: string,
  { table_id, filter = {}, sort }: ItemsQuery,
): Promise<string[]> {
  const table = await readTable(mongo, projectId, table_id).catch((error: unknown) => {
    if (isAppError(error) && error.code === 'not_found') return undefined;
    throw error;
  });
  if (!table) return [`table_id: the table ${JSON.stringify(table_id)} does not exist in the project`];
  const tooLong = JSON.stringify(filter).length > maxFilterLength;
  return [
    ...(tooLong ? [`filter: must have at most ${maxFilterLength} characters of JSON`] : filterProblems(table, filter)),
    ...problemOf(() => orderOf(table.columns, sort)),
  ];
}

/** One problem of each condition. */
function filterProblems({ columns }: TableDocument, filter: Record<string, unknown>): string[] {
  const apart = Object.entries(filter).flatMap(([name, condition]) =>
    problemOf(() => compileConditions(columns, { [name]: condition })),
  );
  return apart.length > 0 ? apart : problemOf(() => compileConditions(columns, filter));
}

function problemOf(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (isAppError(error)) return [error.message];
    throw error;
  }
}
