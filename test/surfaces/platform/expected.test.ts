import { expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

const daily = { goal: 'Brief', type: 'interval', frequency: 86_400 };

async function createSchedule(fields: object) {
  const { api } = await createWorkspace(deps);
  const { body: flow } = await api.post('/agentflow', { name: 'Brief' });
  const { status, body } = await api.post('/schedule/coworker', { ...daily, ...fields, coworker_id: flow._id });
  expect(status).toBe(201);
  return { api, schedule: body, path: `/schedule/coworker/${body._id}` };
}

test('of concurrent changes of a schedule that expect the same state, one is made', async () => {
  verifies('platform.schedules.expected');
  const { api, path, schedule } = await createSchedule({});
  const change = { jitter: 7, expected: schedule.updated_at };
  const answers = await Promise.all(Array.from({ length: 5 }, () => api.patch(path, change)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  expect(await api.patch(path, change)).toMatchObject(refusal(409, 'conflict', 'expected: the schedule was changed'));
  const { updated_at } = (await api.get(path)).body;
  expect(await api.patch(path, { jitter: 8, expected: updated_at })).toMatchObject({
    status: 200,
    body: { jitter: 8 },
  });
});

test('of concurrent changes of a connector that expect the same state, one is made', async () => {
  verifies('platform.connectors.expected');
  const { api, projectID } = await createWorkspace(deps);
  const { body: connector } = await api.post('/actions/restful/config', { name: 'Claims' });
  const path = `/connectors/${projectID}/${connector._id}`;
  const change = { tags: ['mine'], expected: connector.updated_at };
  const answers = await Promise.all(Array.from({ length: 5 }, () => api.patch(path, change)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  expect(await api.patch(path, change)).toMatchObject(refusal(409, 'conflict', 'expected: the connector was changed'));
  const { updated_at } = (await api.get(path)).body;
  expect(await api.patch(path, { name: 'New', expected: updated_at })).toMatchObject({ status: 200 });
});

test('a schedule that is created as paused has no next times until it is resumed', async () => {
  verifies('platform.schedules.created-paused');
  const { api, path, schedule } = await createSchedule({ status: 'paused' });
  expect(schedule).toMatchObject({ status: 'paused', reason: 'paused on request' });
  expect((await api.get(`${path}/runs`)).body).toMatchObject({ data: [], next: [] });
  expect(await api.patch(path, { status: 'active' })).toMatchObject({ status: 200, body: { reason: null } });
  expect((await api.get(`${path}/runs`)).body.next).toHaveLength(10);
});
