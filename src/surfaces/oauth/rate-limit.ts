import { hash } from 'node:crypto';
import { addressOf, addToCounter, currentWindow, secondsUntil } from '../../auth/window-counter.js';
import type { Collections } from '../../stores/collections.js';
import { OauthError } from './oauth-error.js';

export interface RateLimitOptions {
  what: 'registrations' | 'failed token requests' | 'client documents';
  /** The maximum number of requests per window and address. */
  max: number;
  windowSeconds: number;
}

export interface RateLimit {
  /**
   * Counts one request.
   * @throws OauthError `too_many_requests` with the seconds until the window ends
   */
  take(address: string): Promise<void>;
  /** Counts one request, and returns the refusal instead of throwing it. */
  refusalFor(address: string): Promise<OauthError | undefined>;
}

export function createRateLimit(
  { oauth_counters: counters }: Collections,
  { what, max, windowSeconds }: RateLimitOptions,
): RateLimit {
  async function refusalFor(address: string): Promise<OauthError | undefined> {
    const { window, endsAt } = currentWindow(windowSeconds);
    const addressHash = hash('sha256', addressOf(address), 'base64url');
    if ((await addToCounter(counters, `${what}:${addressHash}:${window}`, 1, endsAt)) <= max) return undefined;
    const seconds = secondsUntil(endsAt);
    return new OauthError('too_many_requests', `too many ${what} from this address; try again in ${seconds} seconds`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }

  return {
    refusalFor,
    async take(address) {
      const refusal = await refusalFor(address);
      if (refusal) throw refusal;
    },
  };
}
