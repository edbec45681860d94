import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { AppError } from '../errors.js';
import type { Collections } from '../stores/collections.js';
import { isDuplicateKey } from '../stores/mongo.js';

/** `_id` names limit, subject and window, so that one atomic increment by `_id` counts exactly over all processes. */
export interface LoginAttemptsDocument {
  _id: string;
  attempts: number;
  expires_at: Date;
}

/** An address from which an account was signed in to: it is not held up by guesses from elsewhere. */
export interface LoginOriginDocument {
  _id: string;
  expires_at: Date;
}

interface Limit {
  per: 'account and address' | 'account';
  max: number;
  windowSeconds: number;
}

/**
 * Attempts that may fail or be at work in one window. Windows end by themselves, so nobody is shut out for good, and
 * the account's own limit passes over addresses that it is used from.
 */
const defaultLimits: readonly Limit[] = [
  { per: 'account and address', max: 10, windowSeconds: 60 },
  { per: 'account and address', max: 50, windowSeconds: 3600 },
  { per: 'account', max: 100, windowSeconds: 3600 },
];
const originDays = 90;

export interface LoginThrottle {
  /**
   * Counts an attempt before its password is looked at, so that attempts at once are counted too.
   * @throws AppError `too_many_requests` with the seconds until the window ends
   * @returns what to call when the attempt succeeded: it takes the attempt off the count
   */
  admit(account: string, address: string): Promise<() => Promise<void>>;
}

export function createLoginThrottle(collections: Collections, limits = defaultLimits): LoginThrottle {
  const { login_attempts: attempts, login_origins: origins } = collections;

  async function count(_id: string, by: 1 | -1, endsAt: number): Promise<number> {
    const update = { $inc: { attempts: by }, $set: { expires_at: new Date(endsAt) } };
    const options = { upsert: true, returnDocument: 'after' } as const;
    // Two upserts of one new document may meet; the second then finds it.
    const counted = await attempts.findOneAndUpdate({ _id }, update, options).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return attempts.findOneAndUpdate({ _id }, update, options);
    });
    return counted?.attempts ?? 0;
  }

  return {
    async admit(account, address) {
      const pair = digest(account, networkOf(address));
      const known = (await origins.findOne({ _id: pair })) !== null;
      const counted: { _id: string; endsAt: number }[] = [];
      for (const { per, max, windowSeconds } of limits) {
        if (per === 'account' && known) continue;
        const { key, endsAt } = windowAt(Date.now(), windowSeconds);
        const _id = `${per === 'account' ? digest(account) : pair}:${key}`;
        if ((await count(_id, 1, endsAt)) > max) throw tooMany(endsAt);
        counted.push({ _id, endsAt });
      }
      return async () => {
        const expires_at = new Date(Date.now() + originDays * 24 * 3600 * 1000);
        await origins.updateOne({ _id: pair }, { $set: { expires_at } }, { upsert: true });
        for (const { _id, endsAt } of counted) await count(_id, -1, endsAt);
      };
    },
  };
}

function windowAt(now: number, seconds: number): { key: string; endsAt: number } {
  const index = Math.floor(now / (seconds * 1000));
  return { key: `${seconds}:${index}`, endsAt: (index + 1) * seconds * 1000 };
}

function tooMany(endsAt: number): AppError {
  const seconds = Math.max(1, Math.ceil((endsAt - Date.now()) / 1000));
  return new AppError('too_many_requests', `too many attempts to sign in; try again in ${seconds} seconds`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

/** One subscriber holds a whole IPv6 /64, so that is what counts as one address. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

/** Mail addresses do not stand in the store in clear, least of all those that nobody has. */
function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
