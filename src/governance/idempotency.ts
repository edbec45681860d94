import { setTimeout as delay } from 'node:timers/promises';
import { rolesOf } from '../auth/grants.js';
import type { Principal } from '../auth/principal.js';
import type { SecretBox } from '../auth/secret-box.js';
import { AppError, isRefusal } from '../base/errors.js';
import { newId } from '../base/ids.js';
import { sha256Hex } from '../base/hash.js';
import { defineCollection, expiring, type Collections } from '../stores/collections.js';
import { isDuplicateKey } from '../stores/mongo.js';
import { callerOf } from './approvals/resume-token.js';

const keptForMs = 24 * 3600 * 1000;
/** How soon a repeat continues the work of a process that died. A process that lives renews its lease. */
const leaseMs = 4_000;
const renewEveryMs = 1_000;
const waitMs = 10_000;

/** `_id` is the hash of project, user, route and key. `answer` is null while the first request is running. */
interface IdempotencyDocument {
  _id: string;
  body_hash: string;
  /** The hash of the caller and of what the credential allows. */
  credential_hash: string;
  record_id: string;
  /** Sealed JSON, because an answer can contain a secret, such as the pin of a connector. */
  answer: { sealed: string } | null;
  leased_until: Date;
  expires_at: Date;
}

export interface Answer {
  value: unknown;
  /** The lifecycle of the governed call. */
  lifecycleId?: string;
  /** The request waits for an approval. It had no effect, so the answer is not stored. */
  held?: true;
}

interface IdempotentRequest {
  key: string;
  route: string;
  principal: Principal;
  body: unknown;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency(collections: Collections, box: Pick<SecretBox, 'seal' | 'open'>) {
  return {
    /**
     * Runs `work` once for a key and body, and never twice at the same time while the process lives. A repeat waits for the first request and returns its answer. After a crash or
     * a failure, a repeat runs `work` again with the same record id, so that no record is created twice. A refusal is not
     * stored: the caller can fix its cause and use the key again.
     * @throws AppError `conflict` for another body or credential, and if the first request runs longer than a repeat can wait
     */
    async once(request: IdempotentRequest, work: (recordId: string) => Promise<Answer>): Promise<Answer> {
      checkIdempotencyKey(request.key);
      const { held: reserved, isTakenOver } = await reserve(collections, request);
      if (reserved.answer) return JSON.parse(box.open(reserved.answer.sealed, reserved._id)) as Answer;
      const lease = keepLease(collections, reserved);
      let answer: Answer;
      try {
        answer = await work(reserved.record_id);
      } catch (error) {
        await endReservation(collections, await lease.end(), !isTakenOver && isRefusal(error));
        throw error;
      }
      const mine = await lease.end();
      if (answer.held) await release(collections, mine);
      else
        await collections.idempotency.updateOne(
          { _id: reserved._id },
          { $set: { answer: { sealed: box.seal(JSON.stringify(answer), reserved._id) } } },
        );
      return answer;
    },
  };
}

/** @throws AppError `invalid_request` */
export function checkIdempotencyKey(key: string): void {
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new AppError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
}

/**
 * Renews the lease of a reservation while its work runs. `end` returns the reservation with its last lease. A renewal that
 * fails is repeated at the next time; if another request has taken over, none succeeds any more.
 */
function keepLease({ idempotency }: Collections, reserved: IdempotencyDocument) {
  let mine = reserved;
  // A renewal whose answer was lost may have been written.
  let possible = [reserved.leased_until];
  let renewal: Promise<unknown> = Promise.resolve();
  async function renew(): Promise<void> {
    const leased_until = new Date(Date.now() + leaseMs);
    const held = { _id: mine._id, leased_until: { $in: possible }, answer: null };
    possible = [...possible, leased_until];
    const { matchedCount } = await idempotency.updateOne(held, { $set: { leased_until } });
    if (matchedCount === 0) return;
    mine = { ...mine, leased_until };
    possible = [leased_until];
  }
  const timer = setInterval(() => {
    renewal = renewal.then(renew).catch(() => undefined);
  }, renewEveryMs);
  return {
    async end(): Promise<IdempotencyDocument> {
      clearInterval(timer);
      await renewal;
      return mine;
    },
  };
}

async function release({ idempotency }: Collections, { _id, leased_until }: IdempotencyDocument): Promise<void> {
  await idempotency.deleteOne({ _id, leased_until, answer: null });
}

/**
 * Deletes the key only if the request certainly had no effect. Otherwise, after a failure or if the request that held the
 * key before may still be running, it ends the lease, and a repeat continues with the same record id.
 */
async function endReservation(
  { idempotency }: Collections,
  { _id, leased_until }: IdempotencyDocument,
  hadNoEffect: boolean,
): Promise<void> {
  const mine = { _id, leased_until, answer: null };
  const done = hadNoEffect
    ? idempotency.deleteOne(mine)
    : idempotency.updateOne(mine, { $set: { leased_until: new Date(0) } });
  await done.catch(() => undefined);
}

interface Reservation {
  held: IdempotencyDocument;
  /** Another request had the key, and its lease expired before it answered. */
  isTakenOver: boolean;
}

/**
 * Reserves the key for this request, or waits until the request that holds it has answered or its lease has expired.
 */
async function reserve(collections: Collections, request: IdempotentRequest): Promise<Reservation> {
  const mine = reservation(request);
  const deadline = Date.now() + waitMs;
  for (;;) {
    const held = await insertOrRead(collections, mine);
    if (held === mine) return { held, isTakenOver: false };
    if (held) {
      if (held.expires_at.getTime() <= Date.now()) {
        await collections.idempotency.deleteOne({ _id: held._id, expires_at: held.expires_at });
        continue;
      }
      if (held.body_hash !== mine.body_hash)
        throw new AppError('conflict', 'this Idempotency-Key was used with another body');
      // The answer may contain what this credential may not read. A renewed token of the same client may read it.
      if (held.credential_hash !== mine.credential_hash)
        throw new AppError('conflict', 'this Idempotency-Key was used with another credential');
      if (held.answer) return { held, isTakenOver: false };
      if (held.leased_until.getTime() <= Date.now()) {
        const taken = await collections.idempotency.findOneAndUpdate(
          { _id: held._id, leased_until: held.leased_until },
          { $set: { leased_until: new Date(Date.now() + leaseMs) } },
          { returnDocument: 'after' },
        );
        if (taken && !taken.answer) return { held: taken, isTakenOver: true };
        continue;
      }
    }
    if (Date.now() > deadline) throw new AppError('conflict', 'a request with this Idempotency-Key is still running');
    await delay(25);
  }
}

function reservation(request: IdempotentRequest): IdempotencyDocument {
  const { projectId, userId, grants } = request.principal;
  const roles = rolesOf(request.principal).join();
  return {
    _id: sha256Hex(JSON.stringify([projectId, userId, request.route, request.key])),
    body_hash: sha256Hex(JSON.stringify(request.body ?? null)),
    credential_hash: sha256Hex(JSON.stringify([callerOf(request.principal), roles, [...grants].sort()])),
    record_id: newId(),
    answer: null,
    leased_until: new Date(Date.now() + leaseMs),
    expires_at: new Date(Date.now() + keptForMs),
  };
}

async function insertOrRead(collections: Collections, mine: IdempotencyDocument): Promise<IdempotencyDocument | null> {
  try {
    await collections.idempotency.insertOne(mine);
    return mine;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    return collections.idempotency.findOne({ _id: mine._id });
  }
}

export const idempotencyCollection = defineCollection('idempotency', { indexes: [expiring], majorityRead: true });

declare module '../stores/collections.js' {
  interface Documents {
    idempotency: IdempotencyDocument;
  }
}
