import { hash } from 'node:crypto';
import { countIn, networkOf, presentWindow, waitUntil } from '../auth/window-counter.js';
import type { Collections } from '../stores/collections.js';
import { OauthError } from './oauth-error.js';

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

export function createRateLimit({ oauth_counters: counters }: Collections, { what, max, windowSeconds }: RateLimitOptions): RateLimit {
  async function refusalFor(address: string): Promise<OauthError | undefined> {
    const { window, endsAt } = presentWindow(windowSeconds);
    const who = hash('sha256', networkOf(address), 'base64url');
    if ((await countIn(counters, `${what}:${who}:${window}`, 1, endsAt)) <= max) return undefined;
    const { seconds, headers } = waitUntil(endsAt);
    return new OauthError('too_many_requests', `too many ${what} from this address; try again in ${seconds} seconds`, { headers });
  }

  return {
    refusalFor,
    async take(address) {
      const refusal = await refusalFor(address);
      if (refusal) throw refusal;
    },
  };
}
