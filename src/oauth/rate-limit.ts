import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import type { Collections } from '../stores/collections.js';
import { isDuplicateKey } from '../stores/mongo.js';
import { OauthError } from './oauth-error.js';

/** `_id` names what is counted, the address and the window, so that one atomic increment counts over all processes. */
export interface OauthCounterDocument {
  _id: string;
  count: number;
  expires_at: Date;
}

export interface RateLimitOptions {
  what: 'registrations' | 'failed token requests' | 'client documents';
  /** In one window and from one address. */
  max: number;
  windowSeconds: number;
}

export interface RateLimit {
  /** Counts one. @throws OauthError `too_many_requests` with the seconds until the window ends */
  take(address: string): Promise<void>;
  /** Counts one, and gives the refusal instead of throwing it. */
  refusalFor(address: string): Promise<OauthError | undefined>;
}

export function createRateLimit({ oauth_counters: counters }: Collections, options: RateLimitOptions): RateLimit {
  const windowMs = options.windowSeconds * 1000;

  async function count(_id: string, endsAt: number): Promise<number> {
    const update = { $inc: { count: 1 }, $set: { expires_at: new Date(endsAt) } };
    const settings = { upsert: true, returnDocument: 'after' } as const;
    // Two upserts of one new document may meet; the second then finds it.
    const counted = await counters.findOneAndUpdate({ _id }, update, settings).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return counters.findOneAndUpdate({ _id }, update, settings);
    });
    return counted?.count ?? 0;
  }

  async function refusalFor(address: string): Promise<OauthError | undefined> {
    const window = Math.floor(Date.now() / windowMs);
    const endsAt = (window + 1) * windowMs;
    const who = createHash('sha256').update(networkOf(address)).digest('base64url');
    if ((await count(`${options.what}:${who}:${window}`, endsAt)) <= options.max) return undefined;
    const seconds = Math.max(1, Math.ceil((endsAt - Date.now()) / 1000));
    const description = `too many ${options.what} from this address; try again in ${seconds} seconds`;
    return new OauthError('too_many_requests', description, { headers: { 'Retry-After': String(seconds) } });
  }

  return {
    refusalFor,
    async take(address) {
      const refusal = await refusalFor(address);
      if (refusal) throw refusal;
    },
  };
}

/** One subscriber holds a whole IPv6 /64, so that is what counts as one address. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
