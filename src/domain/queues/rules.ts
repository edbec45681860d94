/** Both are epoch seconds. */
interface Facts {
  /** When a worker last asked for a task. */
  askedAt: number | null;
  /** Since when the oldest waiting task waits. */
  waitingSince: number | null;
}

/** A worker asks again about every minute, so Temporal has seen every free worker within this time. */
const seenWithinSeconds = 150;
/** Workers that keep up leave no task waiting for so long. */
const delayedAfterSeconds = 10;

export const queueStates = ['ok', 'delayed', 'no_workers'] as const;
export type QueueState = (typeof queueStates)[number];

export function stateOfQueue({ askedAt, waitingSince }: Facts, now: number): QueueState {
  if (askedAt === null || now - askedAt > seenWithinSeconds) return 'no_workers';
  return waitingSince !== null && now - waitingSince > delayedAfterSeconds ? 'delayed' : 'ok';
}
