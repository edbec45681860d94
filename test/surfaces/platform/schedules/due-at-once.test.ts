import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../support/client.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { eventually } from '../../../support/eventually.js';
import { coworker, fired, runsOf, schedule, soon } from './schedules.js';

const deps = useDeps();

/**
 * Sends a request with a time that is due a few milliseconds later. Planned times are whole seconds. A slow machine needs
 * several attempts, because the API refuses a time in the past.
 */
async function dueAtOnce(request: (at: number) => Promise<Answer>): Promise<{ at: number; id: string }> {
  return eventually(async () => {
    await eventually(() => expect(Date.now() % 1000).toBeGreaterThan(950), { everyMs: 5 });
    const at = Math.ceil(Date.now() / 1000);
    const { status, body } = await request(at);
    expect(Math.floor(status / 100)).toBe(2);
    return { at, id: body._id as string };
  });
}

describe('a time that passes before Temporal has processed the schedule', () => {
  test('runs once if the schedule is new', async () => {
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const { at, id } = await dueAtOnce((schedule_at) =>
      schedule(workspace, { coworker_id, goal: 'now', type: 'once', schedule: schedule_at }),
    );
    await eventually(async () =>
      expect((await workspace.api.get(`/schedule/coworker/${id}`)).body).toMatchObject({
        count: 1,
        status: 'completed',
      }),
    );
    expect(fired(await runsOf(workspace, id))).toMatchObject([{ scheduled_for: at, status: 'completed' }]);
  });

  test('runs once if the time was changed', async () => {
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const tomorrow = Math.ceil(Date.now() / 1000) + 86_400;
    const { body } = await schedule(workspace, { coworker_id, goal: 'now', type: 'once', schedule: tomorrow });
    const path = `/schedule/coworker/${body._id}`;
    const { at, id } = await dueAtOnce((schedule_at) => workspace.api.patch(path, { schedule: schedule_at }));
    await eventually(async () =>
      expect((await workspace.api.get(path)).body).toMatchObject({ count: 1, status: 'completed' }),
    );
    expect(fired(await runsOf(workspace, id))).toMatchObject([{ scheduled_for: at, status: 'completed' }]);
  });

  test('runs once if the schedule was resumed', async () => {
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const { at, id } = await eventually(async () => {
      const due = soon(3);
      const hourly = { coworker_id, goal: 'now', type: 'interval', frequency: 3600, schedule: due - 3600 };
      const { body } = await schedule(workspace, hourly);
      const path = `/schedule/coworker/${body._id}`;
      await workspace.api.patch(path, { status: 'paused', reason: 'not yet' });
      await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(due - 0.05), { everyMs: 5 });
      const resumed = await workspace.api.patch(path, { status: 'active' });
      // A slow machine resumes too late, and needs another attempt.
      expect(resumed.body.updated_at).toBeLessThan(due);
      return { at: due, id: body._id as string };
    });
    await eventually(async () =>
      expect(fired(await runsOf(workspace, id))).toMatchObject([{ scheduled_for: at, status: 'completed' }]),
    );
  });
});
