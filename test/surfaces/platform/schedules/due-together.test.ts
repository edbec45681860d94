import { describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { newId } from '../../../../src/base/ids.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, schedule, soon } from './schedules.js';
import { sizeOf } from '../../../requirements/full-forms.js';

jest.setTimeout(480_000);
const deps = useDeps();
const count = sizeOf('DUE');
const callers = 8;

/** Creates this number of schedules for one time and returns the rate per second. */
async function make(workspace: Workspace, coworker_id: string, many: number, at: number): Promise<number> {
  const begun = performance.now();
  let left = many;
  const caller = async () => {
    while (left-- > 0) {
      // Repeats the request under the same key if the server is busy, as a careful client does.
      const key = { 'idempotency-key': newId() };
      await eventually(async () =>
        expect(await schedule(workspace, { coworker_id, goal: 'g', type: 'once', schedule: at }, key)).toMatchObject({
          status: 201,
        }),
      );
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return many / ((performance.now() - begun) / 1000);
}

describe('many schedules that are due in one second', () => {
  test('fire once each', async () => {
    verifies('schedule.500-due');
    const { schedules, schedule_runs, executions } = deps.mongo.collections;
    const [rehearsal, workspace] = [await createWorkspace(deps), await createWorkspace(deps)];
    const rate = await make(rehearsal, await coworker(rehearsal), 40, soon(86_400));
    const due = soon((3 * count) / rate + 10);
    await make(workspace, await coworker(workspace), count, due);
    expect(Date.now() / 1000).toBeLessThan(due);
    const { projectID } = workspace;
    await eventually(
      async () => expect(await schedules.countDocuments({ projectID, count: 1, status: 'completed' })).toBe(count),
      { timeoutMs: 240_000, everyMs: 2000 },
    );
    const [runs, made] = await Promise.all([
      schedule_runs.find({ projectID }).toArray(),
      executions.find({ projectID }).toArray(),
    ]);
    expect(new Set(runs.map(({ schedule_id }) => schedule_id)).size).toBe(count);
    expect(runs).toHaveLength(count);
    expect(runs.every(({ scheduled_for, status }) => scheduled_for === due && status === 'completed')).toBe(true);
    expect(new Set(made.map(({ schedule }) => schedule)).size).toBe(count);
    expect(made).toHaveLength(count);
    expect(made.every(({ status, executed_by }) => status === 'completed' && executed_by.type === 'schedule')).toBe(
      true,
    );
    expect(runs.every(({ started_at }) => started_at >= due)).toBe(true);
  });
});
