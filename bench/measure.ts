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

/** What was measured for the product and for the baseline. */
export interface Sides<T> {
  ours: T;
  baseline: T;
}

export function medians(what: string, unit: string, { ours, baseline }: Sides<number[]>, goal: string): Figure {
  return figure(what, unit, median(ours), median(baseline), goal);
}

export function eachSide<T, R>({ ours, baseline }: Sides<T>, change: (side: T) => R): Sides<R> {
  return { ours: change(ours), baseline: change(baseline) };
}

/**
 * Measures both sides in each round, so that both have the same load. They take turns in being first.
 * @param warmUps the number of rounds before the measured ones
 */
export async function inTurns<T>(
  rounds: number,
  ours: (round: number) => Promise<T>,
  baseline: (round: number) => Promise<T>,
  warmUps = 1,
): Promise<Sides<T[]>> {
  const measured: Sides<T[]> = { ours: [], baseline: [] };
  for (const round of range(warmUps + rounds)) {
    const order = [
      { measure: ours, into: measured.ours },
      { measure: baseline, into: measured.baseline },
    ];
    for (const { measure, into } of round % 2 === 0 ? order : order.reverse()) {
      const value = await measure(round);
      if (round >= warmUps) into.push(value);
    }
  }
  return measured;
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

/** Runs `work` this many times with a limited concurrency, and returns how many times per second. */
export async function perSecond(
  count: number,
  callers: number,
  work: (at: number) => Promise<unknown>,
): Promise<number> {
  return (count / (await timed(() => inParallel(range(count), callers, work)))) * 1000;
}

/** Runs `work` on each item with a limited concurrency. */
export async function inParallel<T>(
  items: readonly T[],
  callers: number,
  work: (item: T) => Promise<unknown>,
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
