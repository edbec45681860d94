import { expect, test } from '@jest/globals';
import { queueNames } from '../../../src/temporal/queue-facts.js';
import { newId } from '../../../src/base/ids.js';
import { stateOfQueue } from '../../../src/domain/queues/rules.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { useOwnApp } from '../../support/own-app.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const taskQueue = `nobody-${newId()}`;
const withoutWorkers = useOwnApp({ TEMPORAL_TASK_QUEUE: taskQueue });

test('the state of each task queue can be read, without the amount of work of others', async () => {
  verifies('queues.state');
  const workspace = await createWorkspace(deps);
  const path = `/${workspace.projectID}/queues`;
  await eventually(async () => {
    const { queues } = (await workspace.api.get(path)).body;
    expect(queues.map(({ name, state }: any) => [name, state])).toEqual(queueNames.map((name) => [name, 'ok']));
    expect(Object.keys(queues[0]).sort()).toEqual(['name', 'oldest_waits_seconds', 'state', 'temporal_ui_url']);
  });
  const waiting = await deps.temporal.client.workflow.start('nothing', { taskQueue, workflowId: newId() });
  const { api } = withoutWorkers.through(workspace);
  await eventually(async () => {
    const { queues } = (await api.get(path)).body;
    expect(queues[0]).toEqual({
      name: 'workflows',
      state: 'no_workers',
      oldest_waits_seconds: expect.any(Number),
      temporal_ui_url: expect.stringContaining(`/task-queues/${taskQueue}`),
    });
    expect(queues[1]).toMatchObject({ name: 'control', state: 'no_workers', oldest_waits_seconds: null });
  });
  await waiting.terminate();
  const other = await createWorkspace(deps);
  expect(await other.api.get(path)).toMatchObject(refusal(403, 'access_denied'));
});

test('a queue is delayed if workers poll it but a task waits', () => {
  const now = 1000;
  expect(stateOfQueue({ askedAt: 990, waitingSince: null }, now)).toBe('ok');
  expect(stateOfQueue({ askedAt: 990, waitingSince: 995 }, now)).toBe('ok');
  expect(stateOfQueue({ askedAt: 990, waitingSince: 980 }, now)).toBe('delayed');
  expect(stateOfQueue({ askedAt: 800, waitingSince: 980 }, now)).toBe('no_workers');
});
