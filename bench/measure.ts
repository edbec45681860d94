/** The product's value and the baseline's, measured in one run. `goal` limits the ratio. */
export interface Figure {
  what: string;
  unit: string;
  ours: number;
  baseline: number;
  ratio: number;
  goal: string;
}

export function figure(what: string, unit: string, ours: number, baseline: number, goal: string): Figure {
  return { what, unit, ours, baseline, ratio: ours / baseline, goal };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param share from 0 to less than 1 */
export function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Runs `work` on each item with a limited concurrency. */
export async function inParallel<T>(
  items: readonly T[],
  callers: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const caller = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}
