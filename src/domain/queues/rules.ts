/** Both are epoch seconds. */
interface Facts {
  /** When a worker last asked for a task. */
  askedAt: number | null;
  /** When the oldest waiting task was added. */
  waitingSince: number | null;
}

/** A free worker polls at least about every minute, so a worker that runs has polled within this time. */
const seenWithinSeconds = 150;
/** If the workers keep up, no task waits longer than this. */
const delayedAfterSeconds = 10;

export const queueStates = ['ok', 'delayed', 'no_workers'] as const;
type QueueState = (typeof queueStates)[number];

export function stateOfQueue({ askedAt, waitingSince }: Facts, now: number): QueueState {
  if (askedAt === null || now - askedAt > seenWithinSeconds) return 'no_workers';
  return waitingSince !== null && now - waitingSince > delayedAfterSeconds ? 'delayed' : 'ok';
}
