import { hash } from 'node:crypto';
import { AppError } from '../errors.js';
import type { Collections } from '../stores/collections.js';
import { countIn, networkOf, presentWindow, waitUntil } from './window-counter.js';

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
  return {
    async admit(account, address) {
      const pair = digest(account, networkOf(address));
      const known = (await origins.findOne({ _id: pair })) !== null;
      const counted: { _id: string; endsAt: number }[] = [];
      for (const { per, max, windowSeconds } of limits) {
        if (per === 'account' && known) continue;
        const { window, endsAt } = presentWindow(windowSeconds);
        const _id = `${per === 'account' ? digest(account) : pair}:${windowSeconds}:${window}`;
        if ((await countIn(attempts, _id, 1, endsAt)) > max) throw tooMany(endsAt);
        counted.push({ _id, endsAt });
      }
      return async () => {
        const expires_at = new Date(Date.now() + originDays * 24 * 3600 * 1000);
        await origins.updateOne({ _id: pair }, { $set: { expires_at } }, { upsert: true });
        for (const { _id, endsAt } of counted) await countIn(attempts, _id, -1, endsAt);
      };
    },
  };
}

function tooMany(endsAt: number): AppError {
  const { seconds, headers } = waitUntil(endsAt);
  return new AppError('too_many_requests', `too many attempts to sign in; try again in ${seconds} seconds`, { headers });
}

/** Mail addresses do not stand in the store in clear, least of all those that nobody has. */
function digest(...parts: string[]): string {
  return hash('sha256', JSON.stringify(parts));
}
