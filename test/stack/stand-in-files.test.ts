import { expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { resolveMongodb, startMongodb } from '../../stack/mongodb.js';

const count = 60;
const idOf = (n: number) => `${'x'.repeat((n * 7) % 11)}${String(n)}`;
const keyOf = (n: number) => ({
  organization: `o${String(n % 5)}`,
  name: n % 4 === 0 ? n : `${n % 3 === 0 ? 'ä' : ''}name ${String(n)}`,
});
const nested = { list: [7, { at: new Date(7000) }], none: null };

const env = { ...process.env, MONGODB_URI: '' };
const program = await resolveMongodb({ env, log: () => undefined });

const standInTest = 'standIn' in program ? test : test.skip;
standInTest('the MongoDB stand-in reads and extends its files after a restart', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'stand-in-'));
  try {
    for (const before of [0, count]) {
      const { service, environment } = await startMongodb({ dataDir, env });
      const client = new MongoClient(environment.MONGODB_URI ?? '');
      try {
        const records = client.db().collection<{ _id: string }>('records');
        if (before === 0) await records.createIndex({ organization: 1, name: 1 }, { unique: true });
        const total = before + count;
        expect(await records.countDocuments()).toBe(before);
        await records.insertMany(range(before, total).map((n) => ({ _id: idOf(n), ...keyOf(n), nested })));
        for (const n of range(0, total)) {
          expect(await records.findOne({ _id: idOf(n) })).toMatchObject({ ...keyOf(n), nested });
          expect(await records.findOne(keyOf(n))).toMatchObject({ _id: idOf(n) });
          await expect(records.insertOne({ _id: `new ${idOf(n)}`, ...keyOf(n) })).rejects.toMatchObject({
            code: 11_000,
          });
        }
      } finally {
        await client.close();
        await service.stop();
      }
    }
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}
