import { AppError } from '../errors.js';

/** Counts the event streams that an organization has open in this process. */
export interface OpenStreams {
  /**
   * @returns a function that the caller calls when the stream ends.
   * @throws AppError `too_many_requests` at the maximum
   */
  open(organizationId: string): () => void;
}

const retrySeconds = 30;

/** `max` 0 means unlimited. */
export function createOpenStreams(max: number): OpenStreams {
  const counts = new Map<string, number>();
  return {
    open(organizationId) {
      const count = counts.get(organizationId) ?? 0;
      if (max > 0 && count >= max) {
        throw new AppError('too_many_requests', `the organization has ${count} event streams open, the maximum`, {
          retryAfterSeconds: retrySeconds,
        });
      }
      counts.set(organizationId, count + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (counts.get(organizationId) ?? 1) - 1;
        if (left > 0) counts.set(organizationId, left);
        else counts.delete(organizationId);
      };
    },
  };
}
