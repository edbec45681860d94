import { setImmediate as immediately } from 'node:timers/promises';
import type { Collection, Document } from 'mongodb';

export interface Waiting<T, R> {
  item: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

export interface Group<T, R> {
  add(item: T): Promise<R>;
  /** Resolves when no item is queued or being written. */
  idle(): Promise<void>;
}

const maxTurns = 4;

/**
 * Implements group commit: items that arrive during a write join the next one. `write` settles every item of its batch.
 * If it throws, the items that are not settled are rejected with its error. `isAnotherWaiting` returns whether the next
 * batch already has items.
 */
export function createGroup<T, R>(
  write: (batch: readonly Waiting<T, R>[], isAnotherWaiting: () => boolean) => Promise<void>,
  maxBatch = 500,
): Group<T, R> {
  const queue: Waiting<T, R>[] = [];
  let running: Promise<void> | undefined;

  /** Waits for the end of the turn of the event loop, and for a few more turns while they add items. */
  async function collect(): Promise<void> {
    let before = 0;
    for (let turn = 0; turn < maxTurns && queue.length > before; turn += 1) {
      before = queue.length;
      await immediately();
    }
  }

  async function run(): Promise<void> {
    while (queue.length > 0) {
      await collect();
      const batch = queue.splice(0, maxBatch);
      try {
        await write(batch, () => queue.length > 0);
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

/** Creates a group for each collection when it is first used, which all callers of this process share. */
export function perCollection<T extends Document, G>(
  create: (collection: Collection<T>) => G,
): (collection: Collection<T>) => G {
  const groups = new WeakMap<object, G>();
  return (collection) => {
    const group = groups.get(collection) ?? create(collection);
    groups.set(collection, group);
    return group;
  };
}
