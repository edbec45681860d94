import type { Collection } from 'mongodb';
import { AppError } from '../../../errors.js';
import { isOnlyDuplicates, type Mongo } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { rowsOf, type RowDocument, type TableDocument } from './store.js';

/**
 * A change of a table's rows is decided in the table's own document: one update takes the row ids, counts the rows and
 * notes the change as pending, whole. The rows follow, and the note is taken away. What a process leaves behind that dies
 * in between is finished by whoever finds it, and so a row id that was taken is always used (docs/decisions/0033).
 */

/** A change that is pending for longer than this was left behind. Seconds. */
const leftBehindAfter = 10;

type Tables = Pick<Mongo, 'db' | 'collections'>;

/** Writes rows that may be there already. */
export async function writeRows(rows: Collection<RowDocument>, documents: readonly RowDocument[]): Promise<void> {
  try {
    await rows.insertMany([...documents], { ordered: false });
  } catch (error) {
    if (!isOnlyDuplicates(error)) throw error;
    const written = await rows.countDocuments({ _id: { $in: documents.map(({ _id }) => _id) } });
    if (written !== documents.length) throw new AppError('internal_error', 'rows of a table meet others with their row ids', { cause: error });
  }
}

/** Writes the rows of every insert that is pending and chosen, for its owner or instead of it. */
export async function settleInserts(mongo: Tables, table: TableDocument, chosen: (change: { at: number; rows: RowDocument[] }) => boolean): Promise<void> {
  for (const [key, change] of Object.entries(table.pending)) {
    if (change.kind !== 'insert' || !chosen(change)) continue;
    await writeRows(rowsOf(mongo, table._id), change.rows);
    await mongo.collections.tables.updateOne({ _id: table._id }, { $unset: { [`pending.${key}`]: '' } });
  }
}

/** Finishes what was left behind; true where there was something, so that the table is to be read again. */
export async function finishLeftBehind(mongo: Tables, table: TableDocument): Promise<boolean> {
  const oldest = epochSeconds() - leftBehindAfter;
  const changes = Object.values(table.pending);
  const left = changes.filter(({ at }) => at < oldest);
  if (left.length === 0) return false;
  await settleInserts(mongo, table, ({ at }) => at < oldest);
  if (left.some(({ kind }) => kind === 'delete') && left.length === changes.length) await finishDeletes(mongo, table);
  return true;
}

/**
 * Whether a delete that was left behind had removed its row, only a count can tell; it holds when no other change was
 * decided since the table was read, and is left to a quieter moment otherwise.
 */
async function finishDeletes(mongo: Tables, table: TableDocument): Promise<void> {
  const rows = rowsOf(mongo, table._id);
  const ids = Object.values(table.pending).flatMap((change) => (change.kind === 'delete' ? [change.record_id] : []));
  await rows.deleteMany({ _id: { $in: ids } });
  const row_count = await rows.countDocuments({});
  await mongo.collections.tables.updateOne({ _id: table._id, intents: table.intents }, { $set: { pending: {}, row_count } });
}

/** The table, after what was left behind in it is finished. */
export async function finished(mongo: Tables, table: TableDocument, read: () => Promise<TableDocument>): Promise<TableDocument> {
  return (await finishLeftBehind(mongo, table)) ? read() : table;
}
