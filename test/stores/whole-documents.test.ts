import { expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { testRun } from '../support/run.js';

const cells = 40;

/** The local stand-in for MongoDB once returned documents that an update had changed in part. */
test('a reader gets a document as it is before or after an update', async () => {
  const client = new MongoClient(testRun().env.MONGODB_URI ?? '');
  try {
    const collection = client.db().collection<{ _id: string; [field: string]: unknown }>('whole_documents');
    const versionOf = (version: number) =>
      Object.fromEntries(
        Array.from({ length: cells }, (_, at) => [`cell${String(at)}`, { version, text: 'x'.repeat(60) }]),
      );
    await collection.insertOne({ _id: 'shared', ...versionOf(0) });
    let isWritten = false;
    const write = async () => {
      for (let version = 1; version <= 400; version += 1)
        await collection.updateOne({ _id: 'shared' }, { $set: versionOf(version) });
    };
    const read = async () => {
      while (!isWritten) {
        const { _id, ...found } = (await collection.findOne({ _id: 'shared' })) ?? { _id: 'missing' };
        expect(Object.keys(found)).toHaveLength(cells);
        expect(new Set(Object.values(found).map((cell) => (cell as { version: number }).version)).size).toBe(1);
      }
    };
    const writers = Promise.all([write(), write(), write()]).finally(() => (isWritten = true));
    await Promise.all([writers, ...Array.from({ length: 8 }, read)]);
    await collection.drop();
  } finally {
    await client.close();
  }
});
