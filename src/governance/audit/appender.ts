import { setTimeout as delay } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import { AppError } from '../../base/errors.js';
import { createGroup, type Waiting } from '../../stores/group.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { chain, type AuditEntryDocument, type ChainHead, type UnchainedEntry } from './entry.js';
import { entriesAfter, findHead, isStored } from './head.js';

export type Appender = ReturnType<typeof createAppender>;

type Batch = readonly Waiting<UnchainedEntry, ChainHead>[];

interface AppenderOptions {
  entries: Collection<AuditEntryDocument>;
  organizationId: string;
  onAppended(head: ChainHead): void;
}

const giveUpMs = 15_000;
const sharedForMs = 100;
const unreplicatedMs = 25;

/**
 * Appends the entries of one organization in batches. The unique `_id` decides between processes: the process that
 * loses reads the chain to its new head and appends the rest of its batch there. After a failed write it reads back
 * what was stored, so each entry is stored exactly once. An ordered insert stores a prefix of the batch or nothing, so
 * a crash of the process or the database always leaves a valid chain. The chain is read with majority concern: a new
 * entry only follows an entry that no failover can undo.
 */
export function createAppender({ entries, organizationId, onAppended }: AppenderOptions) {
  let known: ChainHead | undefined;
  let sharedUntil = 0;
  let roundTripMs = 0;

  /**
   * Reads the chain from the head after which `batch` was tried. Resolves the entries that were stored, and returns the
   * others.
   */
  async function findStored(from: ChainHead, batch: Batch): Promise<{ head: ChainHead; left: Batch }> {
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

  /** Returns the error instead of throwing it: after any error, the caller must read back what was stored. */
  async function insert(batch: Batch, documents: readonly AuditEntryDocument[]): Promise<Error | undefined> {
    const began = performance.now();
    try {
      await entries.insertMany(documents, { ordered: true });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    roundTripMs = performance.now() - began;
    batch.forEach(({ resolve }, index) => resolve(toHead(documents[index])));
    return undefined;
  }

  /** Stores `batch` after `from`, and returns the new head. */
  async function writeAfter(from: ChainHead, batch: Batch): Promise<ChainHead> {
    const deadline = Date.now() + giveUpMs;
    let [head, left] = [from, batch];
    for (let failures = 0; left.length > 0;) {
      const documents = chain(
        organizationId,
        head,
        left.map(({ item }) => item),
      );
      const error = await insert(left, documents);
      if (error === undefined) return toHead(documents.at(-1));
      if (!isDuplicateKey(error)) {
        failures += 1;
        if (!(await isStored(entries, organizationId, head))) throw error;
      }
      const before = head.seq;
      ({ head, left } = await findStored(head, left));
      if (left.length > 0 && failures > 1) throw error;
      if (Date.now() > deadline)
        throw new AppError('unavailable', 'the entry could not be added to the audit chain', { cause: error });
      // Another entry has this position, but it is not replicated yet.
      if (head.seq === before) await delay(unreplicatedMs);
    }
    return head;
  }

  async function write(batch: Batch): Promise<void> {
    // Other processes append as well. Without this pause, the fastest process would win every time.
    if (Date.now() < sharedUntil) await delay(roundTripMs * (1 + Math.random()));
    const from = known ?? (await findHead(entries, organizationId));
    // After an error, the next batch reads the head from the database.
    known = undefined;
    known = await writeAfter(from, batch);
    onAppended(known);
  }

  const group = createGroup(write);
  return {
    /** Resolves with the position of the entry once it is stored durably. */
    append: group.add,
    /** The current head, including entries of other processes. */
    head: async () => (await findStored(known ?? (await findHead(entries, organizationId)), [])).head,
    idle: group.idle,
  };
}

function toHead(entry: AuditEntryDocument | undefined): ChainHead {
  if (!entry) throw new Error('an empty batch has no head');
  return { seq: entry.seq, hash: entry.hash };
}
