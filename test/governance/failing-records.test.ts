import { describe, expect, test } from '@jest/globals';
import { eachApart } from '../../src/base/async.js';
import { forEachDue } from '../../src/governance/for-each-due.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
import { useDeps } from '../support/fixture.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { role_changes } = deps.mongo.collections;

describe('a record that a sweep cannot process', () => {
  test('is tried again later and less often, and the sweep goes on with the others', async () => {
    verifies('sweep.failing-records');
    const organization_id = newId();
    const start = epochSeconds();
    const due = (at: number) => ({ organization_id, next_at: { $lte: at } });
    const names = ['fails', 'works', 'fails too', 'works too'];
    const place = { user_id: '', organization_id, project_id: null, attempts: 0, until: 0 };
    await role_changes.insertMany(
      names.map((name, n) => ({ ...place, _id: `${organization_id} ${name}`, next_at: start + n / 1000 })),
    );
    const passAt = async (now: number) => {
      const tried: string[] = [];
      await forEachDue(
        { collection: role_changes, due: due(now), at: 'next_at', log: deps.log, now },
        async ({ _id }) => {
          tried.push(_id.slice(organization_id.length + 1));
          if (_id.includes('fails')) throw new Error('the record is broken');
          await role_changes.deleteOne({ _id });
        },
      );
      return tried;
    };
    expect(await passAt(start + 1)).toEqual(names);
    expect(await passAt(start + 2)).toEqual([]);
    expect(await passAt(start + 62)).toEqual(['fails', 'fails too']);
    expect(await passAt(start + 62 + 61)).toEqual([]);
    expect(await passAt(start + 62 + 121)).toEqual(['fails', 'fails too']);
    await role_changes.deleteMany({ organization_id });
  });

  test('does not stop the work on the others of its list', async () => {
    verifies('sweep.failing-records');
    const done: number[] = [];
    const options = { log: deps.log, failed: 'it failed', about: (item: number) => ({ item }), atOnce: 2 };
    await eachApart([1, 2, 3, 4, 5], options, async (item) => {
      if (item % 2 === 0) throw new Error('the record is broken');
      done.push(item);
    });
    expect(done).toEqual([1, 3, 5]);
  });
});
