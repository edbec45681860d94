import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { moveExecution, prepareExecution } from '../../../support/executions.js';
import { createKey, createWorkspace, useDeps } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { apiClient } from '../../../support/client.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const flow = { ...flowThatCalls([], []), role: 'a role', image: 'an image' };

async function withAgentflow() {
  const workspace = await createWorkspace(deps);
  const { body } = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, flow);
  return { ...workspace, agentflow: body };
}

describe('POST /execute_flow', () => {
  test('answers 201 with every field of the specification, in ready', async () => {
    verifies('platform.executions.create', 'resource.execution', 'resource.execution.executed-by');
    const { api, projectID, userId, agentflow } = await withAgentflow();
    const parent = await api.post(`/execute_flow?projectID=${projectID}`, {
      agentflow_id: agentflow._id,
      goal: 'the parent',
    });
    const before = Date.now() / 1000;
    const { status, body } = await api.post(`/execute_flow?projectID=${projectID}`, {
      agentflow_id: agentflow._id,
      goal: 'find out',
      goal_template: { text: 'find {{ what }}' },
      input_variables: { what: 'out', nested: { a: [1, null] } },
      runtime_inputs: { limit: 3 },
      files: [{ name: 'notes.md', mime_type: 'text/markdown', content: '# Notes' }],
      start_from_agent_id: 'agent_2',
      parent_execution_id: parent.body._id,
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      _id: body.execution_id,
      execution_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      projectID,
      agentflow_id: agentflow._id,
      agentflow_version: null,
      draft: true,
      release: null,
      agentflow: expect.objectContaining({ agentflow_id: agentflow._id }),
      task_id: expect.any(String),
      parent_execution_id: parent.body._id,
      goal: 'find out',
      goal_template: { text: 'find {{ what }}' },
      schedule: null,
      start_from_agent_id: 'agent_2',
      files: [{ name: 'notes.md', mime_type: 'text/markdown', location: expect.any(String) }],
      input_variables: { what: 'out', nested: { a: [1, null] } },
      runtime_inputs: { limit: 3 },
      execution_context: {},
      previews: {},
      agents_output: [],
      anomaly_detected: null,
      conclusion: null,
      created_at: expect.any(Number),
      projected_at: null,
      end_time: null,
      executed_by: { _id: userId, metadata: null, name: expect.any(String), type: 'manual' },
      status: 'ready',
    });
    expect(body.created_at).toBeGreaterThanOrEqual(before - 1);
    expect(body.created_at).toBeLessThanOrEqual(Date.now() / 1000 + 1);
    expect(await api.get(`/execute_flow/${body._id}`)).toMatchObject({ status: 200, body });
  });

  test('embeds the agentflow at that time, regardless of later changes', async () => {
    verifies('resource.execution.agentflow-copy');
    const { api, projectID, agentflow } = await withAgentflow();
    const { body } = await api.post(`/execute_flow?projectID=${projectID}`, {
      agentflow_id: agentflow._id,
      goal: 'keep',
    });
    expect(body.agentflow).toEqual({
      agentflow_id: agentflow._id,
      name: 'Test flow',
      role: 'a role',
      image: 'an image',
      initialAgent: 'agent_1',
      conclusion: agentflow.conclusion,
      agents: agentflow.agents.map(({ _id, llm, role, role_description, title, agent_type, next_agent }: any) => {
        return { _id, llm, role, role_description, title, agent_type, next_agent };
      }),
    });
    expect(await api.patch(`/agentflow/${agentflow._id}`, { name: 'Another name' })).toMatchObject({ status: 200 });
    expect((await api.get(`/execute_flow/${body._id}`)).body.agentflow).toEqual(body.agentflow);
  });

  test('records the time of use on its agentflow', async () => {
    const { api, projectID, agentflow } = await withAgentflow();
    const { body } = await api.post(`/execute_flow?projectID=${projectID}`, {
      agentflow_id: agentflow._id,
      goal: 'use',
    });
    expect((await api.get(`/agentflow/${agentflow._id}`)).body.last_used).toBe(body.created_at);
  });

  test('keeps unusual names and values of variables', async () => {
    const { api, projectID, agentflow } = await withAgentflow();
    const input_variables = { 'a.b': 1, $set: { $where: '1' }, '': 'empty', ключ: '☃', big: 2 ** 53 };
    const { status, body } = await api.post(`/execute_flow?projectID=${projectID}`, {
      agentflow_id: agentflow._id,
      goal: 'g',
      input_variables,
    });
    expect({ status, input_variables: body.input_variables }).toEqual({ status: 201, input_variables });
    expect((await api.get(`/execute_flow/${body._id}`)).body.input_variables).toEqual(input_variables);
  });

  test('returns the first answer to a repeat with the same Idempotency-Key, and creates one execution', async () => {
    verifies('platform.idempotency.replay');
    const { api, projectID, agentflow } = await withAgentflow();
    const send = () =>
      api.post(
        `/execute_flow?projectID=${projectID}`,
        { agentflow_id: agentflow._id, goal: 'once' },
        { 'idempotency-key': 'k' },
      );
    const answers = await Promise.all([send(), send(), send(), send()]);
    answers.push(await send());
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect((await api.get(`/${projectID}/execution_flows`)).body.total_count).toBe(1);
  });

  test('refuses another body with the same Idempotency-Key', async () => {
    verifies('platform.idempotency.other-body');
    const { api, projectID, agentflow } = await withAgentflow();
    const send = (goal: string) =>
      api.post(
        `/execute_flow?projectID=${projectID}`,
        { agentflow_id: agentflow._id, goal },
        { 'idempotency-key': 'k' },
      );
    expect(await send('one')).toMatchObject({ status: 201 });
    expect(await send('two')).toMatchObject({ status: 409, body: { error: 'conflict' } });
  });

  test('accepts the key again after a refusal, for a corrected request', async () => {
    const { api, projectID, agentflow } = await withAgentflow();
    const send = (agentflow_id: string) =>
      api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id, goal: 'g' }, { 'idempotency-key': 'k' });
    expect(await send(newId())).toMatchObject({ status: 404 });
    expect(await send(agentflow._id)).toMatchObject({ status: 201 });
  });

  test.each(['', 'ü', 'a b', 'x'.repeat(256)])('refuses the Idempotency-Key %j', async (key) => {
    const { api, projectID, agentflow } = await withAgentflow();
    const headers = { 'idempotency-key': Buffer.from(key).toString('latin1') };
    const answer = await api.post(
      `/execute_flow?projectID=${projectID}`,
      { agentflow_id: agentflow._id, goal: 'g' },
      headers,
    );
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('the lifetime of an execution that is not executed', () => {
  test('leaves no workflow behind and appears in lists', async () => {
    verifies('platform.executions.list');
    const [mine, other] = [await createWorkspace(deps), await createWorkspace(deps)];
    const { _id } = await prepareExecution(mine, flow);
    await prepareExecution(other, flow);
    const listed = await mine.api.get(`/${mine.projectID}/execution_flows?projectID=${mine.projectID}`);
    expect(listed).toMatchObject({
      status: 200,
      body: { total_count: 1, next_cursor: null, data: [{ _id, status: 'ready' }] },
    });
    expect(await mine.api.get(`/${mine.projectID}/execution_flows?status=running`)).toMatchObject({
      body: { data: [], total_count: 0 },
    });
    expect(await mine.api.get(`/${other.projectID}/execution_flows`)).toMatchObject({ status: 403 });
    expect(await mine.api.get(`/${mine.projectID}/execution_flows?projectID=${other.projectID}`)).toMatchObject({
      status: 400,
    });
  });
});

describe('GET /{projectID}/execution_flows', () => {
  test('pages from the newest, each once, while new ones are added', async () => {
    verifies('platform.lists.shape', 'platform.lists.limit', 'platform.lists.cursor');
    const { api, projectID, agentflow } = await withAgentflow();
    const create = async (goal: string) =>
      (await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: agentflow._id, goal })).body
        ._id as string;
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) ids.unshift(await create(`goal ${at}`));
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await api.get(`/${projectID}/execution_flows?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(Object.keys(body).sort()).toEqual(['data', 'next_cursor', 'total_count']);
      seen.push(...body.data.map((execution: any) => execution._id));
      cursor = body.next_cursor;
      await create('meanwhile');
    } while (cursor);
    expect(seen).toEqual(ids);
    for (const limit of ['0', '201', 'x', '1.5'])
      expect(await api.get(`/${projectID}/execution_flows?limit=${limit}`)).toMatchObject({ status: 400 });
    expect(await api.get(`/${projectID}/execution_flows?cursor=nonsense`)).toMatchObject({ status: 400 });
  });
});

describe('grants', () => {
  test('are required on each route: a key without the grant is refused and changes nothing', async () => {
    verifies('platform.grants.read', 'platform.grants.write', 'platform.grants.execute');
    const workspace = await createWorkspace(deps);
    const { _id, agentflow_id } = await prepareExecution(workspace, flow);
    const none = apiClient(workspace.api.url, {
      'x-api-key': await createKey(deps, workspace, { grants: ['svc:docs.read'] }),
    });
    const refusals = await Promise.all([
      none.post('/execute_flow', { agentflow_id, goal: 'g' }),
      none.get(`/execute_flow/${_id}`),
      none.get(`/execute_flow/${_id}/monitoring`),
      none.get(`/execute_flow/${_id}/events`),
      none.get(`/${workspace.projectID}/execution_flows`),
      ...['execute', 'pause', 'resume', 'cancel'].map((move) => moveExecution({ ...workspace, api: none }, _id, move)),
    ]);
    for (const refusal of refusals)
      expect(refusal).toMatchObject({
        status: 403,
        body: { error: 'access_denied', error_description: expect.any(String) },
      });
    const writer = apiClient(workspace.api.url, {
      'x-api-key': await createKey(deps, workspace, { grants: ['svc:orchestrate.write', 'svc:orchestrate.read'] }),
    });
    expect(await moveExecution({ ...workspace, api: writer }, _id, 'execute')).toMatchObject({ status: 403 });
    expect(await workspace.api.get(`/${workspace.projectID}/execution_flows`)).toMatchObject({
      body: { total_count: 1, data: [{ status: 'ready' }] },
    });
  });
});
