import type { Collections } from '../stores/collections.js';
import { within } from '../base/async.js';

const states = ['ready', 'running', 'paused'] as const;
const cacheMs = 10_000;
const countTimeoutMs = 2000;

/** Counts the executions that have not ended, using the index on `status`. Caches the result for ten seconds. */
export function createOpenExecutionCounter({
  executions,
}: Pick<Collections, 'executions'>): () => Promise<Record<string, number>> {
  let cached: { at: number; counts: Promise<Record<string, number>> } | undefined;
  const count = async () => {
    const counting = Promise.all(
      states.map((status) => executions.countDocuments({ status }, { maxTimeMS: countTimeoutMs })),
    );
    // The server cannot enforce `maxTimeMS` while it does not respond.
    const counts = await within(countTimeoutMs, counting, () => new Error('the record store does not answer'));
    return Object.fromEntries(states.map((status, at) => [status, counts[at] ?? 0]));
  };
  return () => {
    if (!cached || performance.now() - cached.at > cacheMs) cached = { at: performance.now(), counts: count() };
    return cached.counts;
  };
}
