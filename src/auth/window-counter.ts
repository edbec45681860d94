import { defineCollection, expiring } from '../stores/collections.js';
import ipaddr from 'ipaddr.js';
import type { Collection } from 'mongodb';
import { isDuplicateKey } from '../stores/mongo.js';

/**
 * `_id` combines the counter, its subject and the window, so that one atomic increment counts exactly across all
 * processes.
 */
interface WindowCounterDocument {
  _id: string;
  count: number;
  expires_at: Date;
}

/** Returns the number of the current window of this length, and its end in epoch milliseconds. */
export function currentWindow(seconds: number): { window: number; endsAt: number } {
  const window = Math.floor(Date.now() / (seconds * 1000));
  return { window, endsAt: (window + 1) * seconds * 1000 };
}

/** @returns the count after the increment */
export async function addToCounter(
  counters: Collection<WindowCounterDocument>,
  _id: string,
  by: number,
  endsAt: number,
): Promise<number> {
  const update = { $inc: { count: by }, $set: { expires_at: new Date(endsAt) } };
  const options = { upsert: true, returnDocument: 'after' } as const;
  // Two concurrent upserts can collide on a new document. The second attempt finds it.
  const counted = await counters.findOneAndUpdate({ _id }, update, options).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
    return counters.findOneAndUpdate({ _id }, update, options);
  });
  return counted?.count ?? 0;
}

/** Returns the whole seconds until the window ends, at least 1. */
export function secondsUntil(endsAt: number): number {
  return Math.max(1, Math.ceil((endsAt - Date.now()) / 1000));
}

/** Returns the address that limits count. One subscriber usually has a whole IPv6 /64, so it counts as one address. */
export function addressOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

/** Returns the network that one attacker can rent: an IPv4 /24 or an IPv6 /64. */
export function networkOf(address: string): string {
  return addressOf(address).replace(/^(\d+\.\d+\.\d+)\.\d+$/, '$1.0');
}

export const loginAttemptsCollection = defineCollection('login_attempts', { indexes: [expiring] });
export const oauthCountersCollection = defineCollection('oauth_counters', { indexes: [expiring] });
export const requestCountersCollection = defineCollection('request_counters', { indexes: [expiring] });

declare module '../stores/collections.js' {
  interface Documents {
    login_attempts: WindowCounterDocument;
    oauth_counters: WindowCounterDocument;
    request_counters: WindowCounterDocument;
  }
}
