import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../../errors.js';
import { createGroup, type Group } from '../../../stores/group.js';
import { newId } from '../../../ids.js';
import { epochSeconds } from '../../../time.js';
import { admit, type Chosen, type InsertDeps, type RowInsert, type Waiter } from './admit.js';
import { finishLeftBehind, writeRows } from './pending.js';
import { shownRow } from './records.js';
import type { TableRecord } from './schemas.js';
import { rowsOf, type TableDocument } from './store.js';

const requestsAtOnce = 200;
const deadlineMs = 10_000;
/** An owner that was held up for longer leaves its rows to those who finish what was left behind. */
const ownerMs = 5000;
/** A table that is written all the time is read again after so long, so that what was left behind in it is found. */
const knownForMs = 1000;

/** What this process knows of a table that it writes. */
interface TableWriter {
  tableId: string;
  /**
   * The table as it was read at `readAt`, with what this process has changed since. Enough to admit by, since the write
   * takes effect only where it still holds; nobody is refused by it.
   */
  known?: { table: TableDocument; readAt: number } | undefined;
  /** The end of the last write, which the next one waits for. */
  concluding: Promise<void>;
}

interface Entry {
  group: Group<RowInsert, TableRecord[]>;
  callers: number;
  forget?: NodeJS.Timeout;
}

/**
 * Inserts all records of a request or none, with row ids in a row; what arrives for a table while a write is in flight
 * shares the next one.
 * @throws AppError `not_found`, `validation_failed` naming each value that does not fit, `plan_limit`, `payload_too_large`
 */
export function createRowInserter(deps: InsertDeps): (tableId: string, insert: RowInsert) => Promise<TableRecord[]> {
  const entries = new Map<string, Entry>();
  const entryOf = (tableId: string): Entry => {
    const writer: TableWriter = { tableId, concluding: Promise.resolve() };
    return { group: createGroup((batch: readonly Waiter[]) => writeGroup(deps, writer, batch), requestsAtOnce), callers: 0 };
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
      if (entry.callers === 0) entry.forget = setTimeout(() => entries.delete(tableId), knownForMs).unref();
    }
  };
}

async function writeGroup(deps: InsertDeps, writer: TableWriter, batch: readonly Waiter[]): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  let waiting = [...batch];
  while (waiting.length > 0) {
    if (Date.now() > deadline) throw new AppError('unavailable', 'too many callers insert into this table at once');
    const { table, readAt, isFresh } = await tableFor(deps, writer, waiting);
    if (isFresh && table && (await finishLeftBehind(deps.mongo, table))) continue;
    const { chosen, later, refused, rowsAtMost } = await admit(deps, table, waiting);
    if (refused.length > 0 && !isFresh) {
      writer.known = undefined;
      waiting = [...chosen, ...refused].map(({ waiter }) => waiter).concat(later);
      continue;
    }
    for (const { waiter, error } of refused) waiter.reject(error);
    waiting = later;
    if (!table || chosen.length === 0) continue;
    const written = await write(deps, writer, table, chosen, rowsAtMost);
    writer.known = written && { table: written, readAt };
    if (written) continue;
    waiting = chosen.map(({ waiter }) => waiter).concat(later);
    await delay(Math.random() * 20);
  }
}

/** Requests that may have been made before are looked up by what is pending in the table, and so need it as it is now. */
async function tableFor({ mongo }: InsertDeps, { tableId, known }: TableWriter, waiting: readonly Waiter[]) {
  const now = Date.now();
  if (known && known.readAt > now - knownForMs && !waiting.some(({ item }) => item.repeatable)) return { ...known, isFresh: false };
  return { table: await mongo.collections.tables.findOne({ _id: tableId }), readAt: now, isFresh: true };
}

/** The table as it is now, with the rows in it; undefined, and nothing done, where it has changed since it was read. */
async function write({ mongo }: InsertDeps, writer: TableWriter, table: TableDocument, chosen: readonly Chosen[], rowsAtMost: number): Promise<TableDocument | undefined> {
  const { _id, last_row_id, columns_version } = table;
  let rowId = last_row_id;
  const numbered = chosen.map(({ waiter, rows }) => ({ waiter, rows: rows.map((row) => ({ ...row, row_id: (rowId += 1) })) }));
  const rows = numbered.flatMap((each) => each.rows);
  const key = newId();
  await writer.concluding;
  const begun = performance.now();
  const { modifiedCount } = await mongo.collections.tables.updateOne(
    { _id, last_row_id, columns_version, row_count: { $lte: rowsAtMost - rows.length } },
    { $inc: { last_row_id: rows.length, row_count: rows.length, intents: 1 }, $set: { [`pending.${key}`]: { kind: 'insert', at: epochSeconds(), rows } } },
  );
  if (modifiedCount === 0) return undefined;
  if (performance.now() - begun > ownerMs) throw new AppError('unavailable', 'the record store is slow; the records follow');
  await writeRows(rowsOf(mongo, _id), rows);
  writer.concluding = conclude(mongo, table, key, numbered);
  return { ...table, last_row_id: rowId, row_count: table.row_count + rows.length };
}

/** Answers, when the note is gone: nobody finishes an insert any more whose rows somebody knows of, and may delete. */
async function conclude({ collections }: InsertDeps['mongo'], table: TableDocument, key: string, numbered: readonly Chosen[]): Promise<void> {
  try {
    await collections.tables.updateOne({ _id: table._id }, { $unset: { [`pending.${key}`]: '' } });
    for (const { waiter, rows } of numbered) waiter.resolve(rows.map((row) => shownRow(table, row)));
  } catch (error) {
    for (const { waiter } of numbered) waiter.reject(error);
  }
}
