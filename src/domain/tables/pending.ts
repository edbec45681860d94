import type { Collection } from 'mongodb';
import { AppError, notFound } from '../../base/errors.js';
import { isOnlyDuplicates, type Mongo } from '../../stores/mongo.js';
import { epochSeconds } from '../../base/time.js';
import { rowsOf, type RowDocument, type TableDocument } from './record.js';

/**
 * A change of rows starts with an update of the table document, which reserves the row ids, counts the rows and stores the
 * complete change as pending. Then the rows are written and the pending note is deleted. If the process crashes in between,
 * any process that finds the note completes the change, so a reserved row id is always used (docs/decisions/0012).
 */

/** A change that is pending for longer was abandoned by a crashed process. */
const abandonedAfterSeconds = 10;

type Tables = Pick<Mongo, 'db' | 'collections'>;

/** Writes rows that may already exist. */
export async function writeRows(rows: Collection<RowDocument>, documents: readonly RowDocument[]): Promise<void> {
  try {
    await rows.insertMany([...documents], { ordered: false });
  } catch (error) {
    if (!isOnlyDuplicates(error)) throw error;
    const written = await rows.countDocuments({ _id: { $in: documents.map(({ _id }) => _id) } });
    if (written !== documents.length)
      throw new AppError('internal_error', 'rows of a table have duplicate row ids', { cause: error });
  }
}

/** Completes the chosen pending inserts, which may belong to another process. */
export async function settleInserts(
  mongo: Tables,
  table: TableDocument,
  chosen: (change: { at: number; rows: RowDocument[] }) => boolean,
): Promise<void> {
  for (const [key, change] of Object.entries(table.pending)) {
    if (change.kind !== 'insert' || !chosen(change)) continue;
    await writeRows(rowsOf(mongo, table._id), change.rows);
    await deletePendingNote(mongo, table._id, key, change.bytes);
  }
}

/**
 * Call it when the rows of the insert are written. If the table was deleted meanwhile, the write may have created the
 * collection again, which nothing else would delete.
 * @throws AppError `not_found` if the table was deleted
 */
export async function deletePendingNote(mongo: Tables, tableId: string, key: string, bytes = 0): Promise<void> {
  const { tables } = mongo.collections;
  const note = `pending.${key}`;
  const { matchedCount } = await tables.updateOne(
    { _id: tableId, [note]: { $exists: true } },
    { $unset: { [note]: '' }, $inc: { pending_bytes: -bytes } },
  );
  if (matchedCount > 0 || (await tables.findOne({ _id: tableId }, { projection: { _id: 1 } }))) return;
  await rowsOf(mongo, tableId).drop();
  throw notFound('the table');
}

/** Completes abandoned changes. @returns true if there were any, so that the table must be read again */
export async function finishAbandoned(mongo: Tables, table: TableDocument): Promise<boolean> {
  const oldest = epochSeconds() - abandonedAfterSeconds;
  const changes = Object.values(table.pending);
  const left = changes.filter(({ at }) => at < oldest);
  if (left.length === 0) return false;
  await settleInserts(mongo, table, ({ at }) => at < oldest);
  if (left.some(({ kind }) => kind === 'delete') && left.length === changes.length) await finishDeletes(mongo, table);
  return true;
}

/**
 * Completes abandoned deletes. The row count must be recalculated, because the rows may or may not have been deleted. If
 * another change was made since the table was read, the count may be wrong, so a later call must complete the deletes.
 */
async function finishDeletes(mongo: Tables, table: TableDocument): Promise<void> {
  const rows = rowsOf(mongo, table._id);
  const ids = Object.values(table.pending).flatMap((change) => (change.kind === 'delete' ? [change.record_id] : []));
  await rows.deleteMany({ _id: { $in: ids } });
  const row_count = await rows.countDocuments({});
  await mongo.collections.tables.updateOne(
    { _id: table._id, intents: table.intents },
    { $set: { pending: {}, pending_bytes: 0, row_count } },
  );
}
