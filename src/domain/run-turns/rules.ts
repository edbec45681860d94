import type { Concurrency } from '../agentflows/record.js';

/** A run that has a turn, or waits for one. */
interface Entry {
  execution_id: string;
  /** The value of the agentflow's concurrency key for this run; null without a key. */
  key: string | null;
  /** When it got its turn, or when it began to wait, in epoch seconds. */
  at: number;
}

export interface TurnQueue {
  running: Entry[];
  /** The oldest first. */
  waiting: Entry[];
}

export type TurnLimits = Pick<Concurrency, 'limit' | 'limit_per_key'>;

/** What happens to a run: it asks for its turn, or it has ended. */
export type TurnChange =
  { kind: 'ask'; execution_id: string; key: string | null } | { kind: 'end'; execution_id: string };

/** The maximum number of runs of an agentflow that wait for their turn. */
export const maxWaiting = 10_000;

/**
 * Applies the changes, and then gives the turns that the limits allow. Repeated changes have no further effect. A run that asks
 * while as many as possible wait is not added.
 */
export function changedQueue(
  queue: TurnQueue,
  changes: readonly TurnChange[],
  limits: TurnLimits,
  at: number,
): TurnQueue {
  const ended = new Set(changes.flatMap((change) => (change.kind === 'end' ? change.execution_id : [])));
  const remains = ({ execution_id }: Entry) => !ended.has(execution_id);
  const running = queue.running.filter(remains);
  const waiting = queue.waiting.filter(remains);
  const known = new Set([...running, ...waiting].map(({ execution_id }) => execution_id));
  for (const change of changes) {
    const { execution_id } = change;
    if (change.kind === 'end' || known.has(execution_id) || ended.has(execution_id)) continue;
    known.add(execution_id);
    waiting.push({ execution_id, key: change.key, at });
  }
  const given = withTurns({ running, waiting }, limits, at);
  return { running: given.running, waiting: given.waiting.slice(0, maxWaiting) };
}

/**
 * Gives turns to waiting runs as far as the limits allow: the run whose key has the fewest running runs is the next, and
 * among equals the one that has waited longest.
 */
function withTurns({ running, waiting }: TurnQueue, limits: TurnLimits, at: number): TurnQueue {
  const perKey = new Map<string | null, number>();
  for (const { key } of running) perKey.set(key, (perKey.get(key) ?? 0) + 1);
  // The nth waiting run of a key is next when n more runs of the key have a turn, so the order follows from the counts.
  const candidates = waiting.map((entry, place) => {
    const count = perKey.get(entry.key) ?? 0;
    perKey.set(entry.key, count + 1);
    return { entry, place, count };
  });
  const room = limits.limit === null ? waiting.length : Math.max(0, limits.limit - running.length);
  const chosen = candidates
    .filter(({ count }) => limits.limit_per_key === null || count < limits.limit_per_key)
    .sort((a, b) => a.count - b.count || a.place - b.place)
    .slice(0, room)
    .map(({ entry }) => entry);
  const taken = new Set(chosen);
  return {
    running: [...running, ...chosen.map((entry) => ({ ...entry, at }))],
    waiting: waiting.filter((entry) => !taken.has(entry)),
  };
}
