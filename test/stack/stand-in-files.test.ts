import { expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MongoClient } from 'mongodb';
import { resolveMongodb, startMongodb } from '../../stack/mongodb.js';
import { packageRoot } from '../../src/package-root.js';

/** Written by the stand-in of 2026-11-25, which stored documents and keys with Java serialization. */
const earlierFile = path.join(packageRoot, 'test/stack/records-of-2026-11-25.h2.gz');
const count = 60;
const idOf = (n: number) => `${'x'.repeat((n * 7) % 11)}${String(n)}`;
const keyOf = (n: number) => ({
  organization: `o${String(n % 5)}`,
  name: n % 4 === 0 ? n : `${n % 3 === 0 ? 'ä' : ''}name ${String(n)}`,
});

const env = { ...process.env, MONGODB_URI: '' };
const program = await resolveMongodb({ env, log: () => undefined });

// A real MongoDB does not read the file.
const standInTest = 'standIn' in program ? test : test.skip;
standInTest('the MongoDB stand-in reads and extends files of earlier releases', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'earlier-records-'));
  mkdirSync(path.join(dataDir, 'mongodb'), { recursive: true });
  writeFileSync(path.join(dataDir, 'mongodb', 'stand-in.h2'), gunzipSync(readFileSync(earlierFile)));
  const { service, environment } = await startMongodb({ dataDir, env });
  const client = new MongoClient(environment.MONGODB_URI ?? '');
  try {
    const records = client.db().collection<{ _id: string }>('records');
    for (const added of [0, count]) {
      const total = count + added;
      if (added) await records.insertMany(range(count, total).map((n) => ({ _id: idOf(n), ...keyOf(n) })));
      expect(await records.countDocuments()).toBe(total);
      for (const n of range(0, total)) {
        expect(await records.findOne({ _id: idOf(n) })).toMatchObject(keyOf(n));
        expect(await records.findOne(keyOf(n))).toMatchObject({ _id: idOf(n) });
        await expect(records.insertOne({ _id: `new ${idOf(n)}`, ...keyOf(n) })).rejects.toMatchObject({ code: 11_000 });
      }
    }
    const nested = { list: [7, { at: new Date(7000) }], none: null };
    expect(await records.findOne({ _id: idOf(7) })).toMatchObject({ nested });
  } finally {
    await client.close();
    await service.stop();
    rmSync(dataDir, { recursive: true });
  }
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}
