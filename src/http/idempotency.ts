import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '../auth/principal.js';
import { AppError, isAppError } from '../errors.js';
import { newId } from '../ids.js';
import type { Collections } from '../stores/collections.js';
import { isDuplicateKey } from '../stores/mongo.js';

const keptForMs = 24 * 3600 * 1000;
/** Longer than requests take; one that takes still longer may be joined by its repeat, since `work` bears that. */
const leaseMs = 4_000;
const waitMs = 10_000;

/** `_id` is the hash of project, user, route and key. `answer` is null while the first request is at work. */
export interface IdempotencyDocument {
  _id: string;
  body_hash: string;
  record_id: string;
  answer: { value: unknown } | null;
  leased_until: Date;
  expires_at: Date;
}

export interface IdempotentRequest {
  key: string;
  route: string;
  principal: Principal;
  body: unknown;
}

export interface Idempotency {
  /**
   * Runs `work` once for a key and body. A repeat gets the first answer, waiting for it when the first is still at
   * work; after a crash or a fault the repeat runs again with the same record id, so that nothing is made twice.
   * A refusal is not kept: the caller may mend its cause and use the key again.
   * @throws AppError `conflict` for another body, or when the first is at work for longer than a repeat can wait
   */
  once(request: IdempotentRequest, work: (recordId: string) => Promise<unknown>): Promise<unknown>;
}

export function createIdempotency(collections: Collections): Idempotency {
  return {
    async once(request, work) {
      if (!/^[\x21-\x7e]{1,255}$/.test(request.key)) {
        throw new AppError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
      }
      const reserved = await reserve(collections, request);
      if (reserved.answer) return reserved.answer.value;
      const value = await work(reserved.record_id).catch(async (error: unknown) => {
        await giveUp(collections, reserved, error);
        throw error;
      });
      await collections.idempotency.updateOne({ _id: reserved._id }, { $set: { answer: { value } } });
      return value;
    },
  };
}

/** After a fault nobody knows what was done: only the lease ends, so that a repeat goes on with the same record id. */
async function giveUp({ idempotency }: Collections, { _id, leased_until }: IdempotencyDocument, error: unknown): Promise<void> {
  const mine = { _id, leased_until, answer: null };
  const isRefusal = isAppError(error) && error.status < 500;
  const done = isRefusal ? idempotency.deleteOne(mine) : idempotency.updateOne(mine, { $set: { leased_until: new Date(0) } });
  await done.catch(() => undefined);
}

/** Takes the key for this request, or waits until the request that holds it has answered or its lease has run out. */
async function reserve(collections: Collections, request: IdempotentRequest): Promise<IdempotencyDocument> {
  const mine = reservation(request);
  const deadline = Date.now() + waitMs;
  for (;;) {
    const held = await insertOrRead(collections, mine);
    if (held === mine) return mine;
    if (held) {
      if (held.expires_at.getTime() <= Date.now()) {
        await collections.idempotency.deleteOne({ _id: held._id, expires_at: held.expires_at });
        continue;
      }
      if (held.body_hash !== mine.body_hash) throw new AppError('conflict', 'this Idempotency-Key was used with another body');
      if (held.answer) return held;
      if (held.leased_until.getTime() <= Date.now()) {
        const taken = await collections.idempotency.findOneAndUpdate(
          { _id: held._id, leased_until: held.leased_until },
          { $set: { leased_until: new Date(Date.now() + leaseMs) } },
          { returnDocument: 'after' },
        );
        if (taken && !taken.answer) return taken;
        continue;
      }
    }
    if (Date.now() > deadline) throw new AppError('conflict', 'a request with this Idempotency-Key is still at work');
    await delay(25);
  }
}

function reservation(request: IdempotentRequest): IdempotencyDocument {
  const scope = [request.principal.projectId, request.principal.userId, request.route, request.key];
  return {
    _id: sha256(JSON.stringify(scope)),
    body_hash: sha256(JSON.stringify(request.body ?? null)),
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

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
