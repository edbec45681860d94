import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { apiClient } from '../../../support/client.js';
import { createKey, createWorkspace, useDeps } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { seedExecution } from '../../../support/seeded-executions.js';
import { createTable } from '../../../support/tables.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const counting = { component_type: 'chart', resource: 'executions', query: { aggregation_code: [{ $count: 'n' }] } };
const idsOf = (components: any[]) => components.map(({ component_id }) => component_id);

describe('GET /dashboard/{projectID}', () => {
  test('returns one dashboard of the project in the shape of the specification, with a task board', async () => {
    verifies('platform.dashboards.get', 'resource.dashboard', 'resource.dashboard.component');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const tasks: Awaited<ReturnType<typeof seedExecution>>[] = [];
    for (const [at, status] of (['running', 'failed', 'running'] as const).entries()) {
      tasks.push(
        await seedExecution(deps, workspace, {
          status,
          created_at: 1000 + at,
          goal: `goal ${at}`,
          coworker: { id: newId(), name: 'Flow' },
        }),
      );
    }
    const task = (at: number) => ({
      _id: tasks[at]?.task_id,
      created_at: 1000 + at,
      status: tasks[at]?.status,
      name: `Flow: goal ${at}`,
    });
    const answers = await Promise.all(Array.from({ length: 4 }, () => api.get(`/dashboard/${projectID}`)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body });
    const { body } = answers[0]!;
    const [{ id: tab_id }] = body.tabs;
    const [{ component_id }] = body.components;
    expect(body).toEqual({
      _id: expect.any(String),
      name: expect.any(String),
      description: expect.any(String),
      project_id: projectID,
      coworker_id: null,
      tabs: [{ name: expect.any(String), id: expect.any(String) }],
      position: [{ tab_id, x: 0, y: 0, h: 8, w: 12, i: component_id, minW: 4, minH: 4 }],
      components: [
        {
          tab_id,
          component_type: 'taskManager',
          user_query: '',
          title: expect.any(String),
          subTitle: expect.any(String),
          component_id: expect.any(String),
          resource: 'tasks',
          table_id: null,
          process_buttons: [],
          button_title: '',
          coworker_id: null,
          column_keys: [],
          columns: [],
          icon: expect.any(String),
          query: {
            aggregation_code: expect.arrayContaining([
              { $match: { projectID } },
              { $group: expect.objectContaining({ _id: '$status' }) },
            ]),
          },
          data: [
            { status: 'failed', data: [task(1)] },
            { status: 'running', data: [task(2), task(0)] },
          ],
          error: null,
          refreshed_at: expect.any(Number),
        },
      ],
    });
    expect((await api.get(`/task/${tasks[0]?.task_id}`)).body).toMatchObject({
      _id: tasks[0]?.task_id,
      name: 'Flow: goal 0',
    });
  });

  test('answers 403 for another project on every route', async () => {
    const [mine, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const { body } = await stranger.api.get(`/dashboard/${stranger.projectID}`);
    const path = `/dashboard/${stranger.projectID}`;
    const [component] = idsOf(body.components);
    const answers = [
      await mine.api.get(path),
      await mine.api.post(`/dashboard/refresh/${stranger.projectID}`),
      await mine.api.post(`${path}/component`, counting),
      await mine.api.delete(`${path}/component/${component}`),
    ];
    for (const answer of answers) expect(answer).toMatchObject(refusal(403, 'access_denied'));
    expect(await mine.api.delete(`/dashboard/${mine.projectID}/component/${component}`)).toMatchObject(
      refusal(404, 'not_found'),
    );
    expect((await stranger.api.get(path)).body).toEqual(body);
  });
});

describe('POST /dashboard/refresh/{projectID}', () => {
  test('recomputes the data without a body', async () => {
    verifies('platform.dashboards.refresh');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const path = `/dashboard/${projectID}`;
    const { body: before } = await api.get(path);
    await api.post(`${path}/component`, counting);
    expect(before.components[0].data).toEqual([]);
    const execution = await seedExecution(deps, workspace, { status: 'ready' });
    expect((await api.get(path)).body.components[0].data).toEqual([]);
    const refreshed = await api.post(`/dashboard/refresh/${projectID}`);
    expect(refreshed).toMatchObject({
      status: 200,
      body: { components: [{ data: [{ status: 'ready', data: [{ _id: execution.task_id }] }] }, { data: [{ n: 1 }] }] },
    });
    expect(refreshed.body.components[0].refreshed_at).toBeGreaterThan(before.components[0].refreshed_at);
    expect((await api.get(path)).body).toEqual(refreshed.body);
  });

  test('shows the error of a component without its table, and the data of the others', async () => {
    verifies('platform.dashboards.refresh');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const { tables } = deps.mongo.collections;
    const { _id } = await createTable(workspace);
    const made = await api.post(`/dashboard/${projectID}/component`, {
      component_type: 'chart',
      table_id: _id,
      query: { aggregation_code: [] },
    });
    expect(made).toMatchObject({ status: 201, body: { data: [], error: null } });
    await api.post(`/dashboard/${projectID}/component`, counting);
    const table = await tables.findOneAndDelete({ _id });
    await seedExecution(deps, workspace);
    const { body } = await api.post(`/dashboard/refresh/${projectID}`);
    expect(body.components).toMatchObject([
      { error: null },
      { data: [], error: 'the table was not found' },
      { data: [{ n: 1 }], error: null },
    ]);
    await tables.insertOne(table!);
    expect((await api.post(`/dashboard/refresh/${projectID}`)).body.components[1]).toMatchObject({ error: null });
  });

  test('neither loses nor restores components that are added and deleted at the same time', async () => {
    const { api, projectID } = await createWorkspace(deps);
    const path = `/dashboard/${projectID}`;
    const made = [];
    for (let count = 0; count < 3; count += 1)
      made.push((await api.post(`${path}/component`, counting)).body.component_id);
    const [refreshed, deleted, again, added] = await Promise.all([
      api.post(`/dashboard/refresh/${projectID}`),
      api.delete(`${path}/component/${made[1]}`),
      api.post(`/dashboard/refresh/${projectID}`),
      api.post(`${path}/component`, counting),
    ]);
    expect([refreshed, deleted, again, added].map(({ status }) => status)).toEqual([200, 200, 200, 201]);
    const { components, position } = (await api.get(path)).body;
    expect(idsOf(components).slice(1)).toEqual([made[0], made[2], added.body.component_id]);
    expect(position.map(({ i }: any) => i)).toEqual(idsOf(components));
  });
});

describe('POST /dashboard/{projectID}/component', () => {
  test('adds a component with every field and its layout cell on its own tab', async () => {
    verifies('platform.dashboards.component-add');
    const { api, projectID } = await createWorkspace(deps);
    const path = `/dashboard/${projectID}`;
    const fields = {
      ...counting,
      title: 'Executions',
      subTitle: 'all',
      user_query: 'how many?',
      process_buttons: [{ id: 'go', $odd: { 'a.b': 1 } }],
      button_title: 'Go',
      coworker_id: 'c1',
      column_keys: ['n'],
      columns: [{ key: 'n' }],
      icon: 'bars',
    };
    const made = await api.post(`${path}/component`, {
      ...fields,
      projectID,
      tab_name: 'Numbers',
      position: { x: 3, w: 5, h: 2, minW: 2, minH: 1 },
    });
    expect(made).toMatchObject({ status: 201, body: { ...fields, table_id: null, data: [], error: null } });
    const { tab_id, component_id } = made.body;
    const second = await api.post(`${path}/component`, { ...counting, tab_name: 'Numbers' });
    const third = await api.post(`${path}/component`, { ...counting, tab_id });
    const { body } = await api.get(path);
    expect(body.tabs).toEqual([expect.anything(), { name: 'Numbers', id: tab_id }]);
    expect(body.components[1]).toEqual(made.body);
    expect(body.position.slice(1)).toEqual([
      { tab_id, x: 3, y: 0, w: 5, h: 2, i: component_id, minW: 2, minH: 1 },
      { tab_id, x: 0, y: 2, w: 6, h: 4, i: second.body.component_id, minW: 2, minH: 2 },
      { tab_id, x: 0, y: 6, w: 6, h: 4, i: third.body.component_id, minW: 2, minH: 2 },
    ]);
  });

  test('keeps ten concurrent components without overlap', async () => {
    verifies('platform.dashboards.component-add');
    const { api, projectID } = await createWorkspace(deps);
    const path = `/dashboard/${projectID}`;
    const added = await Promise.all(Array.from({ length: 10 }, () => api.post(`${path}/component`, counting)));
    for (const answer of added) expect(answer).toMatchObject({ status: 201 });
    const { components, position } = (await api.get(path)).body;
    expect(idsOf(components).slice(1).sort()).toEqual(added.map(({ body }) => body.component_id).sort());
    expect(new Set(position.map(({ y }: any) => y)).size).toBe(11);
  });

  test('adds one component for calls with one Idempotency-Key, also after a crash', async () => {
    const { api, projectID } = await createWorkspace(deps);
    const path = `/dashboard/${projectID}`;
    const key = { 'idempotency-key': newId() };
    const [first, second] = await Promise.all([
      api.post(`${path}/component`, counting, key),
      api.post(`${path}/component`, counting, key),
    ]);
    expect(first).toMatchObject({ status: 201, body: second?.body });
    await deps.mongo.collections.idempotency.updateOne(
      { record_id: first?.body.component_id },
      { $set: { answer: null, leased_until: new Date(0) } },
    );
    expect(await api.post(`${path}/component`, counting, key)).toMatchObject({ status: 201, body: first?.body });
    expect((await api.get(path)).body.components).toHaveLength(2);
  });

  test.each([
    [400, 'component_type', { query: { aggregation_code: [] } }],
    [400, 'colour', { ...counting, colour: 'red' }],
    [400, 'query.aggregation_code', { ...counting, query: { aggregation_code: 'all' } }],
    [400, 'query.aggregation_code.0', { ...counting, query: { aggregation_code: ['$match'] } }],
    [400, 'position.w', { ...counting, position: { w: 0 } }],
    [400, 'data', { ...counting, data: [] }],
    [422, 'query', { component_type: 'chart' }],
    [422, 'tab_id', { ...counting, tab_id: 'nowhere' }],
    [422, 'tab_name', { ...counting, tab_id: 'a', tab_name: 'b' }],
  ])('answers %i for a bad %s and adds nothing', async (status, field, body) => {
    const { api, projectID } = await createWorkspace(deps);
    expect(await api.post(`/dashboard/${projectID}/component`, body)).toMatchObject(
      refusal(status, status === 400 ? 'invalid_request' : 'validation_failed', field),
    );
    expect((await api.get(`/dashboard/${projectID}`)).body.components).toHaveLength(1);
  });

  test('refuses a component that is so large that 24 of them would not fit into the stored dashboard', async () => {
    const { api, projectID } = await createWorkspace(deps);
    const add = (length: number) =>
      api.post(`/dashboard/${projectID}/component`, { ...counting, columns: ['x'.repeat(length)] });
    expect(await add(200_000)).toMatchObject(refusal(422, 'validation_failed', 'must not exceed 200000 bytes'));
    expect(await add(190_000)).toMatchObject({ status: 201 });
  });

  test('is full at 24 components', async () => {
    const { api, projectID } = await createWorkspace(deps);
    const path = `/dashboard/${projectID}/component`;
    for (let count = 1; count < 24; count += 1) expect(await api.post(path, counting)).toMatchObject({ status: 201 });
    expect(await api.post(path, counting)).toMatchObject(refusal(422, 'validation_failed', '24'));
  });
});

describe('DELETE /dashboard/{projectID}/component/{component_id}', () => {
  test('removes the component and its layout cell once', async () => {
    verifies('platform.dashboards.component-delete');
    const { api, projectID } = await createWorkspace(deps);
    const path = `/dashboard/${projectID}`;
    const { body: before } = await api.get(path);
    const { body: made } = await api.post(`${path}/component`, counting);
    const gone = `${path}/component/${made.component_id}`;
    const answers = await Promise.all([api.delete(gone), api.delete(gone)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(answers.find(({ status }) => status === 200)?.body).toEqual(made);
    for (const id of [newId(), 'x', '%00'])
      expect(await api.delete(`${path}/component/${id}`)).toMatchObject(refusal(404, 'not_found'));
    expect((await api.get(path)).body).toEqual(before);
    expect(await api.delete(`${path}/component/${before.components[0].component_id}`)).toMatchObject({ status: 200 });
    expect((await api.get(path)).body).toMatchObject({ components: [], position: [] });
  });

  test('requires svc:orchestrate.write, like refreshing and adding', async () => {
    const workspace = await createWorkspace(deps);
    const path = `/dashboard/${workspace.projectID}`;
    const reader = apiClient(workspace.api.url, {
      'x-api-key': await createKey(deps, workspace, { grants: ['svc:orchestrate.read'] }),
    });
    const { body } = await reader.get(path);
    const answers = [
      await reader.post(`/dashboard/refresh/${workspace.projectID}`),
      await reader.post(`${path}/component`, counting),
      await reader.delete(`${path}/component/${body.components[0].component_id}`),
    ];
    for (const answer of answers) expect(answer).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.write'));
  });
});
