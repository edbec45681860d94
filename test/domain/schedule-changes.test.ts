import { expect, test } from '@jest/globals';
import { storeScheduleChange } from '../../src/domain/schedules/changes.js';
import { newId } from '../../src/base/ids.js';
import type { ScheduleDocument } from '../../src/domain/schedules/record.js';
import { useDeps } from '../support/fixture.js';

const deps = useDeps();
const { schedules } = deps.mongo.collections;

test('a change keeps the pause of a run that failed while the change was stored', async () => {
  const _id = newId();
  const pause = { from: 50, to: null };
  const record = { _id, status: 'active', pauses: [], revision: 1, changes: [], updated_at: null, before: null };
  await schedules.insertOne(record as unknown as ScheduleDocument);
  let isFirst = true;
  const overtaken = Object.assign(Object.create(schedules) as typeof schedules, {
    async findOne(filter: object) {
      const found = await schedules.findOne(filter);
      if (isFirst) {
        isFirst = false;
        await schedules.updateOne({ _id }, { $set: { status: 'paused', pauses: [pause] }, $inc: { revision: 1 } });
      }
      return found;
    },
  });
  const fields = { status: 'active' as const, updated_at: 100 };
  const change = { schedule_id: _id, change_id: 'resume', change: { kind: 'update' as const, fields } };
  const mongo = { ...deps.mongo, collections: { ...deps.mongo.collections, schedules: overtaken } };
  await storeScheduleChange({ mongo }, change);
  expect(await schedules.findOne({ _id })).toMatchObject({
    status: 'active',
    pauses: [{ from: 50, to: 100 }],
    changes: ['resume'],
  });
});
