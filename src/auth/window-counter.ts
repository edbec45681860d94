import ipaddr from 'ipaddr.js';
import type { Collection } from 'mongodb';
import { isDuplicateKey } from '../stores/mongo.js';

/** `_id` names what is counted, of whom, and the window, so that one atomic increment by `_id` counts exactly over all processes. */
export interface WindowCounterDocument {
  _id: string;
  count: number;
  expires_at: Date;
}

/** The window of so many seconds that it is now: its number, and its end in epoch milliseconds. */
export function presentWindow(seconds: number): { window: number; endsAt: number } {
  const window = Math.floor(Date.now() / (seconds * 1000));
  return { window, endsAt: (window + 1) * seconds * 1000 };
}

/** @returns the count after this one */
export async function countIn(counters: Collection<WindowCounterDocument>, _id: string, by: 1 | -1, endsAt: number): Promise<number> {
  const update = { $inc: { count: by }, $set: { expires_at: new Date(endsAt) } };
  const options = { upsert: true, returnDocument: 'after' } as const;
  // Two upserts of one new document may meet; the second then finds it.
  const counted = await counters.findOneAndUpdate({ _id }, update, options).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
    return counters.findOneAndUpdate({ _id }, update, options);
  });
  return counted?.count ?? 0;
}

/** What a refusal tells of the time until the window ends, in its text and its header. */
export function waitUntil(endsAt: number): { seconds: number; headers: { 'Retry-After': string } } {
  const seconds = Math.max(1, Math.ceil((endsAt - Date.now()) / 1000));
  return { seconds, headers: { 'Retry-After': String(seconds) } };
}

/** One subscriber holds a whole IPv6 /64, so that is what counts as one address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
