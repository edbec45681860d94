import { addressOf, addToCounter, currentWindow, secondsUntil } from '../../auth/window-counter.js';
import { sha256Hex } from '../../base/hash.js';
import type { Collections } from '../../stores/collections.js';
import { OauthError } from './oauth-error.js';

export interface RateLimitOptions {
  what: 'registrations' | 'failed token requests' | 'client documents' | 'device requests' | 'entered codes';
  /** The maximum number of requests per window and address. */
  max: number;
  windowSeconds: number;
}

export type RateLimit = ReturnType<typeof createRateLimit>;

export function createRateLimit(
  { oauth_counters: counters }: Collections,
  { what, max, windowSeconds }: RateLimitOptions,
) {
  async function refusalFor(address: string): Promise<OauthError | undefined> {
    const { window, endsAt } = currentWindow(windowSeconds);
    const addressHash = sha256Hex(addressOf(address));
    if ((await addToCounter(counters, `${what}:${addressHash}:${window}`, 1, endsAt)) <= max) return undefined;
    const seconds = secondsUntil(endsAt);
    return new OauthError('too_many_requests', `too many ${what} from this address; try again in ${seconds} seconds`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }

  return {
    /** Counts one request, and returns the refusal instead of throwing it. */
    refusalFor,
    /**
     * Counts one request.
     * @throws OauthError `too_many_requests` with the seconds until the window ends
     */
    async take(address: string): Promise<void> {
      const refusal = await refusalFor(address);
      if (refusal) throw refusal;
    },
  };
}
