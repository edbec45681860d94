import { AppError } from '../base/errors.js';

export type OpenStreams = ReturnType<typeof createOpenStreams>;

const retrySeconds = 30;

/**
 * Counts the open event streams of each organization in this process.
 * @param max the maximum per organization; 0 means unlimited
 */
export function createOpenStreams(max: number) {
  const counts = new Map<string, number>();
  return {
    /**
     * Counts a stream.
     * @returns a function to call when the stream ends
     * @throws AppError `too_many_requests` at the maximum
     */
    open(organizationId: string): () => void {
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
