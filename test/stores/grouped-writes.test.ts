import { describe, expect, test } from '@jest/globals';
import { createGroupedWrites } from '../../src/stores/grouped-writes.js';
import { newId } from '../../src/ids.js';
import { createMongo } from '../../src/stores/mongo.js';
import { testRun } from '../support/run.js';

interface Numbered {
  _id: string;
  n: number;
}

/** Grouped writes of a new collection, and the commands that they made. */
async function withWrites(
  work: (write: ReturnType<typeof createGroupedWrites<Numbered>>, commands: string[]) => Promise<void>,
): Promise<void> {
  const mongo = createMongo({ collections: [], uri: testRun().env.MONGODB_URI ?? '', monitorCommands: true });
  const collection = mongo.db.collection<Numbered>(`numbered_${newId()}`);
  const commands: string[] = [];
  mongo.db.client.on('commandStarted', ({ commandName }) => void commands.push(commandName));
  try {
    await work(createGroupedWrites(collection), commands);
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
});
