import { describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { createFreshReads } from '../../src/stores/fresh-reads.js';
import { useDeps } from '../support/fixture.js';

const deps = useDeps();

describe('fresh reads', () => {
  test('return the record of each id, and null if there is none', async () => {
    const { project_modes } = deps.mongo.collections;
    const ids = Array.from({ length: 30 }, newId);
    const record = (_id: string) => ({
      _id,
      organization_id: 'o',
      mode: 'governed' as const,
      updated_at: 1,
      updated_by: 'u',
    });
    await project_modes.insertMany(ids.slice(0, 20).map(record));
    const read = createFreshReads(project_modes);
    const found = await Promise.all([...ids, ...ids].map(read));
    expect(found.map((each) => each?._id ?? null)).toEqual(
      [...ids, ...ids].map((id) => (ids.indexOf(id) < 20 ? id : null)),
    );
  });

  test('include all earlier writes, even while another read is in progress', async () => {
    const { project_modes } = deps.mongo.collections;
    const read = createFreshReads(project_modes);
    const _id = newId();
    await project_modes.insertOne({ _id, organization_id: 'o', mode: 'simple', updated_at: 0, updated_by: 'u' });
    for (let updated_at = 1; updated_at <= 50; updated_at += 1) {
      const underWay = read(_id);
      await project_modes.updateOne({ _id }, { $set: { updated_at } });
      expect((await read(_id))?.updated_at).toBe(updated_at);
      await underWay;
    }
  });

  test('fail together when the store does not answer, and work again afterwards', async () => {
    let broken = true;
    const collection = {
      find: () => ({ toArray: async () => (broken ? Promise.reject(new Error('no answer')) : [{ _id: 'a' }]) }),
    };
    const read = createFreshReads(collection as never);
    expect((await Promise.allSettled([read('a'), read('b')])).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ]);
    broken = false;
    expect(await Promise.all([read('a'), read('b')])).toEqual([{ _id: 'a' }, null]);
  });
});
