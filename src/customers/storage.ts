import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../errors.js';
import type { Collections } from '../stores/collections.js';
import { insertOnce, isDuplicateKey } from '../stores/mongo.js';
import { epochSeconds } from '../time.js';
import { planLimit } from './places.js';

/** `_id` is the file. A file that gave its bytes back stays for an hour with none, so that no late write revives it. */
export interface StoredBytesDocument {
  _id: string;
  organization_id: string;
  bytes: number;
  /** The revision of the total that it was counted in. */
  revision: number;
  expires_at: Date | null;
}

interface Change {
  id: string;
  bytes: number;
  revision: number;
  at: number;
}

/** `_id` is the organization. `changes` are counted in `bytes` already, and perhaps not yet in their file's record. */
export interface StorageTotalDocument {
  _id: string;
  bytes: number;
  revision: number;
  changes: Change[];
}

export interface Storage {
  reserve(organizationId: string, id: string, bytes: number, maximum: number): Promise<void>;
  release(organizationId: string, id: string): Promise<void>;
  used(organizationId: string): Promise<number>;
}

const mebibyte = 1024 * 1024;
const tryForMs = 10_000;
/** Much longer than a change takes: after that its process is taken for dead, and another finishes it. */
const graceSeconds = 10;
const rememberedMs = 3600 * 1000;

/**
 * Storage in bytes, exact over any number of processes. A change is admitted and noted by one conditional update of the
 * total, written to its file's record and then struck off; whoever meets the note of a process that died finishes it.
 */
export function createStorage({ stored_bytes, storage_totals }: Pick<Collections, 'stored_bytes' | 'storage_totals'>): Storage {
  async function totalOf(_id: string): Promise<StorageTotalDocument> {
    return (await storage_totals.findOne({ _id })) ?? insertOnce(storage_totals, { _id, bytes: 0, revision: 0, changes: [] });
  }

  async function finish(organization_id: string, { id, bytes, revision }: Change): Promise<void> {
    try {
      // A newer change of the file makes this one a duplicate: it has been finished by somebody else.
      await stored_bytes.updateOne(
        { _id: id, revision: { $lt: revision } },
        { $set: { organization_id, bytes, revision, expires_at: bytes === 0 ? new Date(Date.now() + rememberedMs) : null } },
        { upsert: true },
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    await storage_totals.updateOne({ _id: organization_id }, { $pull: { changes: { id, revision } } });
  }

  /** False when another change came between; the file's record is read at a revision that is still the newest. */
  async function change(_id: string, id: string, bytes: number, maximum: number): Promise<boolean> {
    const total = await totalOf(_id);
    const noted = total.changes.find((each) => each.id === id);
    if (noted && noted.at > epochSeconds() - graceSeconds) return false;
    for (const each of total.changes) if (each.at <= epochSeconds() - graceSeconds) await finish(_id, each);
    const delta = bytes - ((await stored_bytes.findOne({ _id: id }))?.bytes ?? 0);
    if (delta === 0) return true;
    if (delta > 0 && total.bytes + delta > maximum) throw beyond(maximum, total.bytes);
    const next: Change = { id, bytes, revision: total.revision + 1, at: epochSeconds() };
    const { matchedCount } = await storage_totals.updateOne(
      { _id, revision: total.revision },
      { $inc: { bytes: delta, revision: 1 }, $push: { changes: next } },
    );
    if (matchedCount === 1) await finish(_id, next);
    return matchedCount === 1;
  }

  /** By organization: the last change of this process, after which the next begins. */
  const lastOf = new Map<string, Promise<void>>();

  /** Changes of one process wait for each other, so that only other processes are met in the total. */
  function inTurn(organizationId: string, work: () => Promise<void>): Promise<void> {
    const turn = (lastOf.get(organizationId) ?? Promise.resolve()).then(work);
    const over = turn.catch(() => undefined).finally(() => lastOf.get(organizationId) === over && lastOf.delete(organizationId));
    lastOf.set(organizationId, over);
    return turn;
  }

  async function persist(organizationId: string, id: string, bytes: number, maximum: number): Promise<void> {
    const deadline = Date.now() + tryForMs;
    while (!(await change(organizationId, id, bytes, maximum))) {
      if (Date.now() > deadline) throw new AppError('unavailable', 'the storage of the organization is changed by too many calls at once');
      await delay(Math.random() * 20);
    }
  }

  return {
    reserve: (organizationId, id, bytes, maximum) => inTurn(organizationId, () => persist(organizationId, id, bytes, maximum)),
    release: (organizationId, id) => inTurn(organizationId, () => persist(organizationId, id, 0, 0)),
    used: async (organizationId) => (await totalOf(organizationId)).bytes,
  };
}

function beyond(maximum: number, used: number): AppError {
  const inMegabytes = (bytes: number) => Math.round((bytes / mebibyte) * 100) / 100;
  return planLimit('storage_space_in_mb', inMegabytes(maximum), inMegabytes(used), ' MB');
}
