import { LRUCache } from 'lru-cache';
import type { Principal } from '../auth/principal.js';
import { addToCounter, currentWindow, secondsUntil } from '../auth/window-counter.js';
import type { Config } from '../config.js';
import { AppError } from '../base/errors.js';
import type { Collections } from '../stores/collections.js';

export type RequestLimit = ReturnType<typeof createRequestLimit>;

/** The part of a window that this process has reserved. */
interface Reservation {
  left: number;
  isLast: boolean;
  filling?: Promise<void> | undefined;
}

const maxRemembered = 10_000;
const reservationsPerWindow = 100;

/**
 * Fixed windows that all processes share. A process reserves one hundredth of a window at a time, so most requests need
 * no round trip. All processes together never admit more than the maximum.
 */
export function createRequestLimit(
  { request_counters: counters }: Pick<Collections, 'request_counters'>,
  { credentialMax, organizationMax, windowSeconds }: Config['requestLimit'],
) {
  const reservations = new LRUCache<string, Reservation>({ max: maxRemembered });

  async function fill(_id: string, reservation: Reservation, max: number, endsAt: number): Promise<void> {
    const size = Math.max(1, Math.floor(max / reservationsPerWindow));
    const taken = (await addToCounter(counters, _id, size, endsAt)) - size;
    reservation.left = Math.max(0, Math.min(size, max - taken));
    reservation.isLast = taken + size >= max;
  }

  async function take(subject: string, id: string, max: number): Promise<void> {
    if (max === 0) return;
    const { window, endsAt } = currentWindow(windowSeconds);
    const _id = `${subject}:${id}:${window}`;
    const reservation = reservations.get(_id) ?? { left: 0, isLast: false };
    reservations.set(_id, reservation);
    while (reservation.left === 0) {
      if (reservation.isLast) throw tooMany(subject, max, windowSeconds, endsAt);
      reservation.filling ??= fill(_id, reservation, max, endsAt).finally(() => (reservation.filling = undefined));
      await reservation.filling;
    }
    reservation.left -= 1;
  }

  return {
    /** Counts a request. @throws AppError `too_many_requests` with the seconds until the window ends */
    async admit({
      keyId,
      userId,
      organizationId,
    }: Pick<Principal, 'keyId' | 'userId' | 'organizationId'>): Promise<void> {
      await take('credential', keyId ?? userId, credentialMax);
      await take('organization', organizationId, organizationMax);
    },
  };
}

function tooMany(subject: string, max: number, windowSeconds: number, endsAt: number): AppError {
  const seconds = secondsUntil(endsAt);
  return new AppError(
    'too_many_requests',
    `the ${subject} sent more than ${max} requests in ${windowSeconds} s; retry in ${seconds} s`,
    { retryAfterSeconds: seconds },
  );
}
