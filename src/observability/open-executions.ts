import type { Collections } from '../stores/collections.js';

const states = ['ready', 'running', 'paused'] as const;
const keptMs = 10_000;
const longestMs = 2000;

/** Counts what has not ended, by the index on `status`; asked as often as one likes, it counts every ten seconds. */
export function createOpenExecutionCounter({ executions }: Pick<Collections, 'executions'>): () => Promise<Record<string, number>> {
  let kept: { at: number; counts: Promise<Record<string, number>> } | undefined;
  const count = async () => {
    const counts = await Promise.all(states.map((status) => executions.countDocuments({ status }, { maxTimeMS: longestMs })));
    return Object.fromEntries(states.map((status, at) => [status, counts[at] ?? 0]));
  };
  return () => {
    if (!kept || performance.now() - kept.at > keptMs) kept = { at: performance.now(), counts: count() };
    return kept.counts;
  };
}
