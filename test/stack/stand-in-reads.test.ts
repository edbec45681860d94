import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ObjectId, type Document } from 'mongodb';
import { useScratchDatabase } from '../support/documents-examined.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const scratch = await useScratchDatabase(testRun().env.MONGODB_URI ?? '');
const indexed = scratch.db.collection<any>('indexed');
const plain = scratch.db.collection<any>('plain');
afterAll(() => scratch.close());

/** Numbers from 0 to 1, the same in each run (a linear congruential generator, Numerical Recipes). */
let state = 1;
const random = () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
const below = (count: number) => Math.floor(random() * count);
const oneOf = <T>(choices: readonly T[]): T => choices[below(choices.length)] as T;

const objectId = new ObjectId('0123456789abcdef01234567');
const ordinary = [0, 1, 2, 2.5, -1, 'a', 'ab', 'b', 'Z', 'ä', '', true, false, null, undefined, new Date(1), objectId];
const arrays = [[], [1, 2], ['a', 'b'], [null, 1], [2.5, 'b', true]];
const objects = [{}, { x: 1 }, [{ x: 1 }], [[1]]];
const fields = ['a', 'b', 'c.d'] as const;

function documentOf(_id: string, values: readonly unknown[]): Document {
  const document: Document = { _id };
  for (const field of fields) {
    const value = oneOf(values);
    if (value === undefined) continue;
    if (field === 'c.d') document.c = { d: value };
    else document[field] = value;
  }
  return document;
}

const idOf = (n: number) => `${oneOf(['p', 'q'])}:${String(n).padStart(4, '0')}`;
const comparable = ordinary.filter((value) => value !== undefined && value !== null);

function conditionOn(): unknown {
  const [value, other] = [oneOf(ordinary) ?? null, oneOf(ordinary) ?? null];
  const [low, high] = [oneOf(comparable), oneOf(comparable)];
  return oneOf([
    value,
    value,
    { $eq: value },
    { $in: [value, other, 1] },
    { $gt: low },
    { $lte: high },
    { $gte: low, $lt: high },
    { $gt: 'a', $lte: 'b' },
    { $gte: 0, $lt: 2.5 },
    { $ne: value },
    { $exists: true },
    { $gte: low, $nin: [high] },
  ]);
}

function filterOf(depth = 1): Document {
  const filter: Document = {};
  for (const field of fields) if (below(2) === 0) filter[field] = conditionOn();
  if (below(4) === 0)
    filter._id = oneOf([{ $gt: 'p:', $lt: 'p;' }, { $gte: 'p:0100' }, { $lt: 'q:0200' }, idOf(below(300))]);
  if (depth > 0 && below(4) === 0) filter.$or = [filterOf(0), filterOf(0)];
  if (depth > 0 && below(6) === 0) filter.$and = [filterOf(0), filterOf(0)];
  return filter;
}

/** The stand-in does not sort by fields with arrays as MongoDB does. */
function orderOf(hasArrays: boolean): Record<string, 1 | -1> {
  const order: Record<string, 1 | -1> = {};
  for (const field of fields) if (!hasArrays && below(2) === 0) order[field] = oneOf([1, -1]);
  return { ...order, _id: oneOf([1, -1]) };
}

async function expectSameReads(count: number, hasArrays: boolean): Promise<void> {
  for (let read = 0; read < count; read += 1) {
    const filter = filterOf();
    const [sort, limit, skip] = [orderOf(hasArrays), below(3) === 0 ? below(20) + 1 : 0, below(5) === 0 ? below(5) : 0];
    const [one, other] = await Promise.all(
      [indexed, plain].map((each) => each.find(filter).sort(sort).skip(skip).limit(limit).toArray()),
    );
    expect([filter, sort, limit, one]).toEqual([filter, sort, limit, other]);
    const counts = await Promise.all([indexed, plain].map((each) => each.countDocuments(filter)));
    expect([filter, counts[0]]).toEqual([filter, counts[1]]);
  }
}

/** The same change in both collections. */
async function change(values: readonly unknown[]): Promise<void> {
  const { _id, ...content } = documentOf(idOf(below(300)), values);
  const kind = below(4);
  for (const each of [indexed, plain]) {
    if (kind === 0) await each.deleteOne({ _id });
    else if (kind === 1) await each.replaceOne({ _id }, content, { upsert: true });
    else if (kind === 2) await each.updateOne({ _id }, { $unset: { a: '' }, $set: { b: content.b ?? null } });
    else await each.updateMany({ a: content.a ?? null, b: 1 }, { $set: { a: 2, c: { d: 'ab' } } });
  }
}

beforeAll(async () => {
  const indexes: Record<string, 1 | -1>[] = [
    { a: 1, b: 1, 'c.d': 1 },
    { a: 1, b: -1, _id: -1 },
    { b: 1 },
    { 'c.d': -1, _id: 1 },
  ];
  for (const keys of indexes) await indexed.createIndex(keys);
});

describe('a read of the record store', () => {
  test.each([
    ['ordinary values', ordinary],
    ['arrays', [...ordinary, ...arrays]],
    ['arrays and objects', [...ordinary, ...arrays, ...objects]],
    ['ordinary values again', ordinary],
  ])('has the same result with indexes and without, with %s', async (_, values) => {
    verifies('stack.stand-in-reads');
    const documents = [...new Set(Array.from({ length: 300 }, (__, n) => idOf(n)))].map((id) => documentOf(id, values));
    for (const each of [indexed, plain]) {
      await each.deleteMany({});
      await each.insertMany(documents);
    }
    for (let round = 0; round < 4; round += 1) {
      await expectSameReads(
        100,
        values.some((value) => Array.isArray(value)),
      );
      for (let changes = 0; changes < 30; changes += 1) await change(values);
    }
  });
});
