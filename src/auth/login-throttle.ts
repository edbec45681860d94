import type { Config } from '../config.js';
import { AppError } from '../base/errors.js';
import { defineCollection, expiring, type Collections } from '../stores/collections.js';
import { sha256Hex } from '../base/hash.js';
import { addressOf, addToCounter, currentWindow, networkOf, secondsUntil } from './window-counter.js';

/**
 * An address from which the account has signed in successfully. Failed attempts from other addresses do not block it.
 */
interface LoginOriginDocument {
  _id: string;
  expires_at: Date;
}

interface Limit {
  per: 'account and address' | 'account' | 'network' | 'everyone';
  max: number;
  windowSeconds: number;
}

/**
 * Returns the number of failed or running attempts allowed per window. Windows expire on their own, so nobody is locked
 * out permanently. For an address from which the account has signed in before, only the limit per account and address
 * applies: an attacker who guesses passwords elsewhere cannot lock the user out.
 */
export function loginLimits({ addressMax, totalMax }: Config['signIn']): readonly Limit[] {
  const limits: readonly Limit[] = [
    { per: 'account and address', max: 10, windowSeconds: 60 },
    { per: 'account and address', max: 50, windowSeconds: 3600 },
    { per: 'account', max: 100, windowSeconds: 3600 },
    { per: 'network', max: addressMax, windowSeconds: 600 },
    { per: 'everyone', max: totalMax, windowSeconds: 60 },
  ];
  return limits.filter(({ max }) => max > 0);
}
const originDays = 90;

export function createLoginThrottle(collections: Collections, limits: readonly Limit[]) {
  const { login_attempts: attempts, login_origins: origins } = collections;
  return {
    /**
     * Counts an attempt before its password is checked, so that concurrent attempts are counted too.
     * @throws AppError `too_many_requests` with the number of seconds until the window ends
     * @returns a function to call if the attempt succeeds; it removes the attempt from the count
     */
    async admit(account: string, address: string): Promise<() => Promise<void>> {
      const pair = digest(account, addressOf(address));
      const names = {
        'account and address': pair,
        account: digest(account),
        network: digest('network', networkOf(address), ''),
        everyone: 'everyone',
      };
      const known = (await origins.findOne({ _id: pair })) !== null;
      const counted: { _id: string; endsAt: number }[] = [];
      for (const { per, max, windowSeconds } of limits) {
        if (per !== 'account and address' && known) continue;
        const { window, endsAt } = currentWindow(windowSeconds);
        const _id = `${names[per]}:${windowSeconds}:${window}`;
        if ((await addToCounter(attempts, _id, 1, endsAt)) > max) throw tooMany(endsAt);
        counted.push({ _id, endsAt });
      }
      return async () => {
        const expires_at = new Date(Date.now() + originDays * 24 * 3600 * 1000);
        await origins.updateOne({ _id: pair }, { $set: { expires_at } }, { upsert: true });
        for (const { _id, endsAt } of counted) await addToCounter(attempts, _id, -1, endsAt);
      };
    },
  };
}

function tooMany(endsAt: number): AppError {
  const seconds = secondsUntil(endsAt);
  return new AppError('too_many_requests', `too many attempts to sign in; try again in ${seconds} seconds`, {
    retryAfterSeconds: seconds,
  });
}

/** Hashes email addresses, so that none is stored in plain text, in particular none without an account. */
function digest(...parts: string[]): string {
  return sha256Hex(JSON.stringify(parts));
}

export const loginOriginsCollection = defineCollection('login_origins', { indexes: [expiring] });

declare module '../stores/collections.js' {
  interface Documents {
    login_origins: LoginOriginDocument;
  }
}
