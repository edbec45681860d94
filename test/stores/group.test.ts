import { describe, expect, test } from '@jest/globals';
import { createGroup } from '../../src/stores/group.js';
import { eventually } from '../support/eventually.js';

describe('group commit', () => {
  test('writes together all records that arrive during a write', async () => {
    const batches: number[][] = [];
    let release: () => void = () => undefined;
    const group = createGroup<number, number>(async (batch) => {
      batches.push(batch.map(({ item }) => item));
      await new Promise<void>((resolve) => (release = resolve));
      for (const { item, resolve } of batch) resolve(item * 2);
    }, 3);
    const first = group.add(1);
    await eventually(() => expect(batches).toEqual([[1]]));
    const results = Promise.all([first, ...[2, 3, 4, 5].map((item) => group.add(item))]);
    while (batches.flat().length < 5) {
      release();
      await new Promise(setImmediate);
    }
    release();
    expect(await results).toEqual([2, 4, 6, 8, 10]);
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
    await group.idle();
  });

  test('waits for the items of a few more turns of the event loop while they arrive', async () => {
    const batches: number[] = [];
    const group = createGroup<number, void>(async (batch) => {
      batches.push(batch.length);
      for (const { resolve } of batch) resolve();
    });
    const added: Promise<void>[] = [];
    const addInNextTurns = (count: number) =>
      setImmediate(() => {
        added.push(group.add(count));
        if (count > 1) addInNextTurns(count - 1);
      });
    addInNextTurns(2);
    added.push(group.add(0));
    await eventually(() => expect(added).toHaveLength(3));
    await Promise.all(added);
    expect(batches).toEqual([3]);
  });

  test('rejects only the batch that failed', async () => {
    const group = createGroup<string, string>(async (batch) => {
      if (batch.some(({ item }) => item === 'bad')) throw new Error('refused');
      for (const { item, resolve } of batch) resolve(item);
    }, 1);
    const [good, bad, after] = await Promise.allSettled([group.add('good'), group.add('bad'), group.add('after')]);
    expect([good?.status, bad?.status, after?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
