import { setTimeout as delay } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import { AppError } from '../../errors.js';
import { createGroup, type Waiting } from '../../stores/group.js';
import { durable, isDuplicateKey } from '../../stores/mongo.js';
import { chain, type AuditEntryDocument, type Head, type UnchainedEntry } from './entry.js';
import { entriesAfter, findHead } from './head.js';

export interface Appender {
  /** Resolves with the entry's place once it is durably stored. */
  append(entry: UnchainedEntry): Promise<Head>;
  /** The head as this process knows it, followed to what others appended. */
  head(): Promise<Head>;
  idle(): Promise<void>;
}

type Batch = readonly Waiting<UnchainedEntry, Head>[];

export interface AppenderOptions {
  entries: Collection<AuditEntryDocument>;
  organizationId: string;
  onAppended(head: Head): void;
}

const giveUpMs = 15_000;
const sharedForMs = 1000;

/**
 * One organization's appends of this process, in groups. The unique `_id` decides between processes: the loser follows the
 * chain to its new head and chains what is left of its group behind it. What a failed write left behind is read back, so an
 * entry is stored once however the write ended. An ordered insert stores a prefix of the group or nothing, so a crash at any
 * moment, here or in the store, leaves a valid chain.
 */
export function createAppender({ entries, organizationId, onAppended }: AppenderOptions): Appender {
  let known: Head | undefined;
  let sharedUntil = 0;
  let roundTripMs = 0;

  /** Follows the chain from the place after which `batch` was tried: settles what is found stored, gives the others. */
  async function follow(from: Head, batch: Batch): Promise<{ head: Head; left: Batch }> {
    const left = new Map(batch.map((waiting) => [waiting.item.entry_id, waiting]));
    let head = from;
    for await (const { entry_id, seq, hash } of entriesAfter(entries, organizationId, from)) {
      head = { seq, hash };
      if (left.has(entry_id)) left.get(entry_id)?.resolve(head);
      else sharedUntil = Date.now() + sharedForMs;
      left.delete(entry_id);
    }
    return { head, left: [...left.values()] };
  }

  /** Gives the error instead of throwing it: what it left behind is to be read back, whatever it was. */
  async function insert(batch: Batch, documents: readonly AuditEntryDocument[]): Promise<Error | undefined> {
    const began = performance.now();
    try {
      await entries.insertMany(documents, { ordered: true, writeConcern: durable });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    roundTripMs = performance.now() - began;
    batch.forEach(({ resolve }, index) => resolve(placeOf(documents[index])));
    return undefined;
  }

  async function write(batch: Batch): Promise<void> {
    const deadline = Date.now() + giveUpMs;
    // Where others append too, they get the time to follow and write, else the fastest would always be first.
    if (Date.now() < sharedUntil) await delay(roundTripMs * (1 + Math.random()));
    known ??= await findHead(entries, organizationId);
    let left = batch;
    for (let failures = 0; left.length > 0; ) {
      const documents = chain(organizationId, known, left.map(({ item }) => item));
      const error = await insert(left, documents);
      if (error === undefined) {
        known = placeOf(documents.at(-1));
        break;
      }
      ({ head: known, left } = await follow(known, left));
      if (!isDuplicateKey(error)) failures += 1;
      if (left.length > 0 && failures > 1) throw error;
      if (Date.now() > deadline) throw new AppError('unavailable', 'the audit chain does not take entries', { cause: error });
    }
    onAppended(known);
  }

  const group = createGroup(write);
  return {
    append: (entry) => group.add(entry),
    head: async () => (await follow(known ?? (await findHead(entries, organizationId)), [])).head,
    idle: () => group.idle(),
  };
}

function placeOf(entry: AuditEntryDocument | undefined): Head {
  if (!entry) throw new Error('an empty batch has no place');
  return { seq: entry.seq, hash: entry.hash };
}
