import { setTimeout as delay } from 'node:timers/promises';
import { BSON } from 'mongodb';
import { AppError } from '../../base/errors.js';
import { createGroup, type Group } from '../../stores/group.js';
import { newId } from '../../base/ids.js';
import { epochSeconds } from '../../base/time.js';
import {
  admit,
  type ChosenInsert,
  type InsertDeps,
  type TableWithLimit,
  type RowInsert,
  type Waiter,
} from './admit.js';
import { finishAbandoned, deletePendingNote, writeRows } from './pending.js';
import type { TableRecord } from './schemas.js';
import { maxPendingBytes, rowsOf, toRecord, type TableDocument } from './record.js';

const maxRequestsPerWrite = 200;
const deadlineMs = 10_000;
/** If reserving the row ids took longer, another process may be writing the rows as an abandoned change. */
const maxOwnerDelayMs = 5000;
/** How long a table and its maximum of rows are cached. Reading the table again finds abandoned changes. */
const cacheMs = 1000;

/** The state of a table to which this process writes. */
interface TableWriter {
  tableId: string;
  /**
   * The table as read at `readAt`, with this process's changes since then. It is sufficient for admission, because the
   * write is conditional on it. Requests are never refused based on it.
   */
  known?: { table: TableDocument; maxRows: number; readAt: number } | undefined;
  /** A write whose rows are stored and whose note the next write deletes with its own update. */
  unfinished?: Unfinished | undefined;
}

interface Unfinished {
  key: string;
  bytes: number;
  answer(): void;
  refuse(error: unknown): void;
}

interface Entry {
  group: Group<RowInsert, TableRecord[]>;
  callers: number;
  forget?: NodeJS.Timeout;
}

/**
 * Inserts all records of a request with consecutive row ids, or none. Requests that arrive during a write to the same
 * table share the next write.
 * @throws AppError `not_found`, `validation_failed` with all invalid values, `plan_limit`, `payload_too_large`
 */
export function createRowInserter(deps: InsertDeps): (tableId: string, insert: RowInsert) => Promise<TableRecord[]> {
  const entries = new Map<string, Entry>();
  const entryOf = (tableId: string): Entry => {
    const writer: TableWriter = { tableId };
    return {
      group: createGroup(async (batch: readonly Waiter[], isAnotherWaiting) => {
        const before = writer.unfinished;
        try {
          await writeGroup(deps, writer, batch);
        } finally {
          // No caller waits for more than the next batch.
          if (writer.unfinished === before || !isAnotherWaiting()) await finish(deps, writer);
        }
      }, maxRequestsPerWrite),
      callers: 0,
    };
  };
  return async (tableId, insert) => {
    const entry = entries.get(tableId) ?? entryOf(tableId);
    entries.set(tableId, entry);
    clearTimeout(entry.forget);
    entry.callers += 1;
    try {
      return await entry.group.add(insert);
    } finally {
      entry.callers -= 1;
      if (entry.callers === 0) entry.forget = setTimeout(() => entries.delete(tableId), cacheMs).unref();
    }
  };
}

async function writeGroup(deps: InsertDeps, writer: TableWriter, batch: readonly Waiter[]): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  let waiting = [...batch];
  while (waiting.length > 0) {
    if (Date.now() > deadline)
      throw new AppError('unavailable', 'too many concurrent inserts into this table; try again');
    const { table, maxRows, readAt, isFresh } = await tableFor(deps, writer, waiting);
    if (isFresh && table && (await finishAbandoned(deps.mongo, table))) continue;
    const { chosen, later, refused } = await admit(deps, { table, maxRows }, waiting);
    if (refused.length > 0 && !isFresh) {
      writer.known = undefined;
      waiting = [...chosen, ...refused].map(({ waiter }) => waiter).concat(later);
      continue;
    }
    for (const { waiter, error } of refused) waiter.reject(error);
    waiting = later;
    if (!table || chosen.length === 0) continue;
    const written = await write(deps, writer, table, chosen, maxRows);
    writer.known = written && { table: written, maxRows, readAt };
    if (written) continue;
    waiting = chosen.map(({ waiter }) => waiter).concat(later);
    await delay(Math.random() * 20);
  }
}

/** Repeated requests need the current table, because they are looked up in its pending changes. */
async function tableFor(
  { mongo, customers }: InsertDeps,
  { tableId, known }: TableWriter,
  waiting: readonly Waiter[],
): Promise<TableWithLimit & { readAt: number; isFresh: boolean }> {
  const now = Date.now();
  if (known && known.readAt > now - cacheMs && !waiting.some(({ item }) => item.repeatable))
    return { ...known, isFresh: false };
  const table = await mongo.collections.tables.findOne({ _id: tableId });
  const maxRows = table ? (await customers.quotaOf(table.organization_id)).number_of_rows_per_table : 0;
  return { table, maxRows, readAt: now, isFresh: true };
}

/** Inserts the rows. @returns the updated table, or undefined without effect if the table changed since it was read */
async function write(
  { mongo }: InsertDeps,
  writer: TableWriter,
  table: TableDocument,
  chosen: readonly ChosenInsert[],
  maxRows: number,
): Promise<TableDocument | undefined> {
  const { _id, last_row_id, columns_version } = table;
  let rowId = last_row_id;
  const numbered = chosen.map(({ waiter, rows }) => ({
    waiter,
    rows: rows.map((row) => ({ ...row, row_id: (rowId += 1) })),
  }));
  const rows = numbered.flatMap((each) => each.rows);
  const key = newId();
  const bytes = BSON.calculateObjectSize({ rows });
  const before = writer.unfinished;
  const noteBefore = `pending.${before?.key}`;
  const bytesBefore = before?.bytes ?? 0;
  const begun = performance.now();
  const { modifiedCount } = await mongo.collections.tables.updateOne(
    {
      _id,
      last_row_id,
      columns_version,
      row_count: { $lte: maxRows - rows.length },
      pending_bytes: { $not: { $gt: maxPendingBytes - bytes + bytesBefore } },
      ...(before && { [noteBefore]: { $exists: true } }),
    },
    {
      $inc: { last_row_id: rows.length, row_count: rows.length, intents: 1, pending_bytes: bytes - bytesBefore },
      $set: { [`pending.${key}`]: { kind: 'insert', at: epochSeconds(), rows, bytes } },
      ...(before && { $unset: { [noteBefore]: '' } }),
    },
  );
  if (modifiedCount === 0) {
    await finish({ mongo }, writer);
    return undefined;
  }
  writer.unfinished = undefined;
  before?.answer();
  if (performance.now() - begun > maxOwnerDelayMs)
    throw new AppError('unavailable', 'the write timed out; the records may still appear');
  await writeRows(rowsOf(mongo, _id), rows);
  writer.unfinished = {
    key,
    bytes,
    answer: () => numbered.forEach(({ waiter, rows: done }) => waiter.resolve(done.map((row) => toRecord(table, row)))),
    refuse: (error) => numbered.forEach(({ waiter }) => waiter.reject(error)),
  };
  return { ...table, last_row_id: rowId, row_count: table.row_count + rows.length };
}

/**
 * Deletes the note of the last write and answers its requests. Not before: another process could otherwise write the rows
 * again after a user deleted them.
 */
async function finish({ mongo }: Pick<InsertDeps, 'mongo'>, writer: TableWriter): Promise<void> {
  const { tableId, unfinished } = writer;
  if (!unfinished) return;
  writer.unfinished = undefined;
  await deletePendingNote(mongo, tableId, unfinished.key, unfinished.bytes).then(unfinished.answer, unfinished.refuse);
}
