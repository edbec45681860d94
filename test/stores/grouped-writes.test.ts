import { describe, expect, test } from '@jest/globals';
import type { Collection } from 'mongodb';
import { createGroupedWrites } from '../../src/stores/grouped-writes.js';
import { newId } from '../../src/base/ids.js';
import { insertOnce } from '../../src/stores/insert-once.js';
import { createMongo } from '../../src/stores/mongo.js';
import { testRun } from '../support/run.js';

interface Numbered {
  _id: string;
  n: number;
}

type Write = ReturnType<typeof createGroupedWrites<Numbered>>;

/** Grouped writes of a new collection, and the commands that they made. */
async function withWrites(
  work: (write: Write, commands: string[], collection: Collection<Numbered>) => Promise<void>,
): Promise<void> {
  const mongo = createMongo({ collections: [], uri: testRun().env.MONGODB_URI ?? '', monitorCommands: true });
  const collection = mongo.db.collection<Numbered>(`numbered_${newId()}`);
  const commands: string[] = [];
  mongo.db.client.on('commandStarted', ({ commandName }) => void commands.push(commandName));
  try {
    await work(createGroupedWrites(collection), commands, collection);
  } finally {
    await collection.drop().finally(() => mongo.close());
  }
}

const put = (_id: string, n: number) => ({ replaceOne: { filter: { _id }, replacement: { n }, upsert: true } });

describe('grouped writes', () => {
  test('are one command for all callers, and each caller learns what it inserted', async () => {
    await withWrites(async (write, commands) => {
      expect(await write([put('a', 1)])).toEqual([true]);
      const answers = await Promise.all([write([put('b', 1), put('a', 2)]), write([]), write([put('c', 1)])]);
      expect(answers).toEqual([[true, false], [], [true]]);
      expect(commands).toEqual(['update', 'update']);
    });
  });

  test('fail only for the caller whose part is refused', async () => {
    await withWrites(async (write) => {
      const refused = { updateOne: { filter: { _id: 'a' }, update: { $unknown: { n: 1 } } as never, upsert: true } };
      const outcomes = await Promise.allSettled([write([put('b', 1)]), write([refused]), write([put('c', 1)])]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await write([put('b', 2), put('c', 2), put('a', 1)])).toEqual([false, false, true]);
    });
  });

  test('are not repeated for a caller whose part was written', async () => {
    await withWrites(async (write, _commands, collection) => {
      const increment = { updateOne: { filter: { _id: 'a' }, update: { $inc: { n: 1 } }, upsert: true } };
      await write([put('b', 1)]);
      const insert = (_id: string) => write([{ insertOne: { document: { _id, n: 1 } } }]);
      const outcomes = await Promise.allSettled([insert('b'), write([increment]), insert('c')]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
      expect(outcomes[1]).toMatchObject({ value: [true] });
      expect(await collection.findOne({ _id: 'a' })).toEqual({ _id: 'a', n: 1 });
    });
  });
});

describe('inserting a record once', () => {
  test('takes one command for several callers, and only a later caller gets the existing record', async () => {
    await withWrites(async (_write, commands, collection) => {
      const records = ['a', 'b', 'a'].map((_id, n) => ({ _id, n }));
      const stored = await Promise.all(records.map((record) => insertOnce(collection, record)));
      expect(stored[0]).toBe(records[0]);
      expect(stored[1]).toBe(records[1]);
      expect(stored[2]).toEqual({ _id: 'a', n: 0 });
      // One for all, one for the refused record alone, and one that reads the existing record.
      expect(commands).toEqual(['insert', 'insert', 'find']);
    });
  });
});
