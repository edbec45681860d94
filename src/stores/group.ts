import { setImmediate as immediately } from 'node:timers/promises';

export interface Waiting<T, R> {
  item: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

export interface Group<T, R> {
  add(item: T): Promise<R>;
  /** Resolves when nothing is waiting or being written. */
  idle(): Promise<void>;
}

/**
 * Group commit: what arrives while a write is in flight goes into the next one. `write` settles every item of its batch;
 * when it throws, the items that it has not settled are rejected with its error.
 */
export function createGroup<T, R>(write: (batch: readonly Waiting<T, R>[]) => Promise<void>, maxBatch = 500): Group<T, R> {
  const queue: Waiting<T, R>[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      // What this turn of the event loop still brings goes along.
      await immediately();
      const batch = queue.splice(0, maxBatch);
      try {
        await write(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = undefined;
  }

  return {
    add: (item) =>
      new Promise<R>((resolve, reject) => {
        queue.push({ item, resolve, reject });
        running ??= run();
      }),
    idle: async () => running,
  };
}
