import { describe, expect, test } from '@jest/globals';
import type { Grant } from '../../../src/auth/grants.js';
import { sha256Hex } from '../../../src/base/hash.js';
import { newId } from '../../../src/base/ids.js';
import { canonicalText } from '../../../src/base/json.js';
import { type exampleAgentflow, newAgentflowExample } from '../../../src/domain/agentflows/record/examples.js';
import { apiClient, type ApiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { createKey, createWorkspace, useDeps } from '../../support/fixture.js';
import { loseAnswer } from '../../support/lost-answers.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';
import { wholeAgentflow } from './whole-agentflow.js';

const deps = useDeps();
const idsOf = (records: { _id: string }[]) => records.map(({ _id }) => _id);
const action = { _id: 'x', name: 'X', endpoint: 'https://example.com/' };
const agentWith = (skill: object) => ({ _id: 'a', title: 'A', skills: [{ _id: 's', name: 'S', ...skill }] });
const twoAgents = {
  name: 'Flow',
  agents: [
    { _id: 'a', title: 'A', next_agent: 'b' },
    { _id: 'b', title: 'B' },
  ],
};

/** @returns the agentflow as lists and copies have it */
async function create(api: ApiClient, body: object = twoAgents) {
  const answer = await api.post('/agentflow', body);
  expect(answer).toMatchObject({ status: 201 });
  const { digest: _digest, updated_by: _by, ...agentflow } = answer.body;
  return agentflow as typeof exampleAgentflow;
}

describe('GET /agentflow/{id}', () => {
  test('returns an agentflow that can be sent back', async () => {
    verifies('agentflows.sent-back');
    const { api, projectID } = await createWorkspace(deps);
    const { anomaly_detection: _premium, ...whole } = wholeAgentflow;
    const { _id } = await create(api, { ...whole, projectID });
    const promoted = await api.post(`/agentflow/${_id}/promote`, {});
    expect(promoted).toMatchObject({ status: 200 });
    const path = `/agentflow/${_id}`;
    const { body: read } = await api.get(path);
    expect(read).toHaveProperty('promoted_version');
    const { updated_at: _before, digest: _digest, ...content } = read;
    expect((await api.patch(path, read)).body).toMatchObject(content);
    const forged = { _id: newId(), is_deleted: true, organization_id: newId(), promoted_version: 9, created_at: 1 };
    expect((await api.patch(path, { ...read, ...forged, description: 'Changed' })).body).toMatchObject({
      ...content,
      description: 'Changed',
    });
    const copy = await api.post('/agentflow', read);
    const { name, agents } = read;
    expect(copy).toMatchObject({ status: 201, body: { name, agents, projectID, is_deleted: false } });
    expect(copy.body._id).not.toBe(_id);
    expect(copy.body).not.toHaveProperty('promoted_version');
    const [agent] = read.agents;
    expect(await api.post(`${path}/agent/${agent._id}`, agent)).toMatchObject({ status: 200, body: { agents } });
    for (const unknown of [{ revision: 2 }, { edited_by: [] }, { createdAt: 1 }])
      expect(await api.patch(path, { ...read, ...unknown })).toMatchObject(refusal(400, 'invalid_request'));
    const inAgent = { ...read, agents: [{ ...agent, is_deleted: false }] };
    expect(await api.patch(path, inAgent)).toMatchObject(refusal(400, 'invalid_request'));
    const other = await createWorkspace(deps);
    expect((await api.patch(path, { ...read, projectID: other.projectID })).status).toBeGreaterThanOrEqual(400);
  });
});

describe('POST /agentflow', () => {
  test('stores an agentflow completely and returns it with every field of the specification', async () => {
    verifies(
      'platform.agentflows.create',
      'platform.agentflows.get',
      'resource.agentflow',
      'resource.agent',
      'resource.skill',
      'resource.action',
    );
    const { api, projectID, organizationId, userId } = await createWorkspace(deps);
    const before = Date.now() / 1000;
    const made = await api.post(`/agentflow?projectID=${projectID}`, { ...wholeAgentflow, projectID });
    expect(made.status).toBe(201);
    const { _id, created_at } = made.body;
    expect(made.body).toEqual({
      ...wholeAgentflow,
      _id: expect.stringMatching(/^[\w-]{8,}$/),
      projectID,
      organization_id: organizationId,
      is_deleted: false,
      is_cron_scheduled: false,
      created_at: expect.any(Number),
      updated_at: created_at,
      updated_by: userId,
      digest: expect.stringMatching(/^[\da-f]{64}$/),
      last_used: created_at,
      marketplace_id: '',
      parent_agentflow_id: '',
      agents: wholeAgentflow.agents.map((agent) => ({
        ...agent,
        skills: agent.skills.map((skill) => ({
          ...skill,
          projectID,
          user_id: userId,
          is_deleted: false,
          actions: skill.actions.map((each) => ({ ...each, method: 'POST' })),
        })),
      })),
    });
    expect(created_at).toBeGreaterThanOrEqual(before);
    expect(created_at).toBeLessThanOrEqual(Date.now() / 1000);
    expect((await api.get(`/agentflow/${_id}?projectID=${projectID}`)).body).toEqual(made.body);
  });

  test('fills in ids and defaults, and accepts a draft without agents', async () => {
    const { api } = await createWorkspace(deps);
    const made = await create(api, newAgentflowExample);
    expect(made).toMatchObject({
      initialAgent: 'reader',
      isActive: true,
      agentflow_type: 'master',
      anomaly_detection: { is_enabled: false, instructions: '' },
      agents: [
        { next_agent: 'writer', llm: { model: '', temperature: null, max_tokens: null } },
        { next_agent: null, agent_type: 'skilled_agent' },
      ],
    });
    expect(await create(api, { name: 'Draft' })).toMatchObject({ agents: [], initialAgent: '' });
  });

  test('keeps any JSON if the specification says any', async () => {
    const { api } = await createWorkspace(deps);
    const any = { $where: 'this is data', 'a.b': [null, { $set: 1.5, '': 'x' }] };
    const made = await create(api, { ...twoAgents, goal_structure: any });
    await api.patch(`/agentflow/${made._id}`, { conclusion: any, failover_goal: 0 });
    expect((await api.get(`/agentflow/${made._id}`)).body).toMatchObject({
      goal_structure: any,
      conclusion: any,
      failover_goal: 0,
    });
  });

  test.each([
    ['name', {}],
    ['colour', { name: 'F', colour: 'red' }],
    ['agents.0', { name: 'F', agents: [{ title: 'A', colour: 'red' }] }],
    ['revision', { name: 'F', revision: 1 }],
    ['agents.0.title', { name: 'F', agents: [{}] }],
    ['agents.0._id', { name: 'F', agents: [{ _id: 'a/b', title: 'A' }] }],
    ['agents.0.llm.temperature', { name: 'F', agents: [{ title: 'A', llm: { temperature: 'hot' } }] }],
    [
      'agents.0.skills.0.actions.0.endpoint',
      { name: 'F', agents: [agentWith({ actions: [{ ...action, endpoint: 'file:///etc/passwd' }] })] },
    ],
    [
      'agents.0.skills.0.actions.0.category',
      { name: 'F', agents: [agentWith({ actions: [{ ...action, category: 'telepathy' }] })] },
    ],
    [
      'agents.0.skills.0.actions.0.input_schema.fields.0.type',
      {
        name: 'F',
        agents: [agentWith({ actions: [{ ...action, input_schema: { fields: [{ field_id: 'f', type: 'text' }] } }] })],
      },
    ],
  ])('refuses a bad %s and stores nothing', async (field, body) => {
    verifies('platform.errors.unknown-field', 'platform.errors.wrong-type');
    const { api } = await createWorkspace(deps);
    expect(await api.post('/agentflow', body)).toMatchObject(refusal(400, 'invalid_request', field));
    expect((await api.get('/agentflow')).body.total_count).toBe(0);
  });

  test.each([
    ['agents.a.next_agent: the agent "z" does not exist', { agents: [{ _id: 'a', title: 'A', next_agent: 'z' }] }],
    ['initialAgent: the agent "z" does not exist', { ...twoAgents, initialAgent: 'z' }],
    [
      'agents: next_agent forms a cycle: a → b → a',
      {
        agents: [
          { _id: 'a', title: 'A', next_agent: 'b' },
          { _id: 'b', title: 'B', next_agent: 'a' },
        ],
      },
    ],
    [
      'agents: the _id "a" must be unique',
      {
        agents: [
          { _id: 'a', title: 'A' },
          { _id: 'a', title: 'B' },
        ],
      },
    ],
    [
      'agents.a.prompt.template: is not a valid Liquid template',
      { agents: [{ _id: 'a', title: 'A', prompt: { template: '{{ open' } }] },
    ],
  ])('refuses agents that cannot run: %s', async (problem, body) => {
    verifies('platform.agentflows.bad.agents');
    const { api } = await createWorkspace(deps);
    expect(await api.post('/agentflow', { name: 'F', ...body })).toMatchObject(
      refusal(422, 'validation_failed', problem),
    );
    expect((await api.get('/agentflow')).body.total_count).toBe(0);
  });

  test.each([
    [
      'agents.a.skills.s.initial_action_id: the action "z" does not exist',
      { initial_action_id: 'z', actions: [action] },
    ],
    [
      'agents.a.skills.s.actions.x.next_action_id: the action "z" does not exist',
      { actions: [{ ...action, next_action_id: 'z' }] },
    ],
    [
      'agents.a.skills.s.actions: next_action_id forms a cycle: x → x',
      { actions: [{ ...action, next_action_id: 'x' }] },
    ],
  ])('refuses actions that cannot run: %s', async (problem, skill) => {
    verifies('platform.agentflows.bad.actions');
    const { api } = await createWorkspace(deps);
    expect(await api.post('/agentflow', { name: 'F', agents: [agentWith(skill)] })).toMatchObject(
      refusal(422, 'validation_failed', problem),
    );
    expect((await api.get('/agentflow')).body.total_count).toBe(0);
  });

  test('refuses a project outside the scope of the key in query and body, and two that differ', async () => {
    verifies('platform.project.agreement');
    const [{ api, projectID }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    expect(await api.post(`/agentflow?projectID=${stranger.projectID}`, twoAgents)).toMatchObject(
      refusal(403, 'access_denied'),
    );
    expect(await api.post('/agentflow', { ...twoAgents, projectID: stranger.projectID })).toMatchObject(
      refusal(403, 'access_denied'),
    );
    const differing = await api.post(`/agentflow?projectID=${projectID}`, {
      ...twoAgents,
      projectID: stranger.projectID,
    });
    expect(differing).toMatchObject(refusal(400, 'invalid_request', 'projectID'));
    for (const reached of [api, stranger.api]) expect((await reached.get('/agentflow')).body.total_count).toBe(0);
  });

  test('creates one agentflow from calls with one Idempotency-Key: concurrent, later and after a crash', async () => {
    verifies('platform.idempotency.replay', 'platform.idempotency.other-body');
    const workspace = await createWorkspace(deps);
    const { api } = workspace;
    const key = { 'idempotency-key': newId() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.post('/agentflow', twoAgents, key)));
    const [first] = answers;
    for (const answer of answers) expect(answer).toMatchObject({ status: 201, body: first?.body });
    expect(await api.post('/agentflow', { name: 'Other' }, key)).toMatchObject(
      refusal(409, 'conflict', 'Idempotency-Key'),
    );
    await loseAnswer(deps, { workspace, route: 'post /agentflow', key: key['idempotency-key'] });
    expect(await api.post('/agentflow', twoAgents, key)).toMatchObject({ status: 201, body: first?.body });
    expect((await api.get('/agentflow')).body.total_count).toBe(1);
  });
});

describe('POST /agentflow/{id}/agent', () => {
  test.each([{ title: 'C' }, { _id: 'c', title: 'C' }])(
    'adds %j once for one Idempotency-Key, also after a crash',
    async (agent) => {
      verifies('platform.idempotency.replay');
      const workspace = await createWorkspace(deps);
      const { api } = workspace;
      const path = `/agentflow/${(await create(api))._id}/agent`;
      const key = newId();
      const add = () => api.post(path, agent, { 'idempotency-key': key });
      const { status, body } = await add();
      await loseAnswer(deps, { workspace, route: `post ${path}`, key });
      expect(await add()).toMatchObject({ status, body });
      expect([status, body.agents.length, body.last_added]).toEqual([201, 3, undefined]);
      if ('_id' in agent)
        expect(await api.post(path, agent)).toMatchObject(refusal(422, 'validation_failed', 'must be unique'));
    },
  );
});

describe('GET /agentflow', () => {
  test('lists the agentflows of the project, each once while others are added', async () => {
    verifies('platform.agentflows.list', 'platform.lists.cursor');
    const [{ api, projectID }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    await create(stranger.api);
    const made: string[] = [];
    for (let count = 0; count < 5; count += 1) made.unshift((await create(api, { name: `Flow ${count}` }))._id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await api.get(`/agentflow?projectID=${projectID}&limit=2${cursor}`);
      seen.push(...idsOf(page.body.data));
      await create(api, { name: 'Added meanwhile' });
      cursor = page.body.next_cursor === null ? '' : `&cursor=${page.body.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(made);
  });
});

describe('GET /agentflow/{id}', () => {
  test('answers 404 to an unknown, a malformed and another project’s id on every route', async () => {
    verifies('platform.errors.malformed-id');
    const [{ api, projectID }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const theirs = await create(stranger.api);
    for (const id of [theirs._id, newId(), 'x', '%00', 'a'.repeat(3000)]) {
      const answers = [
        await api.get(`/agentflow/${id}`),
        await api.patch(`/agentflow/${id}`, { name: 'Mine' }),
        await api.delete(`/agentflow/${id}`),
        await api.post(`/agentflow/${id}/agent`, { title: 'C' }),
        await api.post(`/agentflow/${id}/agent/a`, { title: 'C' }),
        await api.get(`/agentflow/${id}/user/someone/project/${projectID}`),
      ];
      for (const answer of answers) expect(answer).toMatchObject(refusal(404, 'not_found'));
    }
    expect((await stranger.api.get(`/agentflow/${theirs._id}`)).body).toMatchObject(theirs);
  });
});

describe('GET /agentflow/{agentflow_id}/user/{executed_by}/project/{projectID}', () => {
  test('returns the agentflow of that project', async () => {
    verifies('platform.agentflows.get-for-user', 'platform.project.agreement');
    const [{ api, projectID, userId }, stranger] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    const made = await create(api);
    const path = `/agentflow/${made._id}/user/${userId}/project`;
    expect(await api.get(`${path}/${projectID}`)).toMatchObject({ status: 200, body: made });
    expect(await api.get(`${path}/${stranger.projectID}`)).toMatchObject(refusal(403, 'access_denied'));
    expect(await api.get(`${path}/${projectID}?projectID=${stranger.projectID}`)).toMatchObject(
      refusal(400, 'invalid_request'),
    );
  });
});

describe('PATCH /agentflow/{id}', () => {
  test('with expected does not overwrite a change by somebody else, and can be repeated', async () => {
    verifies('platform.agentflows.update-expected');
    const { api, userId } = await createWorkspace(deps);
    const path = `/agentflow/${(await create(api))._id}`;
    const digest = async () => {
      const { name, image, description, role, initialAgent, isActive, agentflow_type, ...rest } = (await api.get(path))
        .body;
      const { goal_structure, conclusion, failover_goal, anomaly_detection, agents } = rest;
      const free = { goal_structure, conclusion, failover_goal, anomaly_detection, agents };
      return sha256Hex(
        canonicalText({ name, image, description, role, initialAgent, isActive, agentflow_type, ...free }),
      );
    };
    const expected = await digest();
    const mine = { description: 'Mine', expected };
    expect((await api.get(path)).body).toMatchObject({ digest: expected, updated_by: userId });
    expect(await api.patch(path, mine)).toMatchObject({ status: 200, body: { description: 'Mine' } });
    const { body: repeated } = await api.patch(path, mine);
    expect(repeated).toMatchObject({ description: 'Mine', digest: await digest() });
    const late = await api.patch(path, { description: 'Theirs', expected });
    expect(late).toMatchObject({ status: 409, body: { error_description: expect.stringContaining(await digest()) } });
    expect(await api.patch(path, { description: 'Theirs', expected: await digest() })).toMatchObject({ status: 200 });
    expect(await api.patch(path, { expected: 1 })).toMatchObject({ status: 400 });
    expect(await api.post('/agentflow', { name: 'A', expected })).toMatchObject({ status: 400 });
    const next = await digest();
    const both = await Promise.all(
      ['a', 'b', 'c'].map((name) => api.patch(path, { description: name, expected: next })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test('changes the given fields, keeps the others, replaces agents as a whole, and does not change executions', async () => {
    verifies('platform.agentflows.update');
    const { api } = await createWorkspace(deps);
    const made = await create(api);
    const path = `/agentflow/${made._id}`;
    const prepared = await api.post('/execute_flow', { agentflow_id: made._id, goal: 'before the change' });
    const renamed = await api.patch(path, { name: 'New', anomaly_detection: { is_enabled: true } });
    expect(renamed).toMatchObject({
      status: 200,
      body: {
        ...made,
        name: 'New',
        anomaly_detection: { is_enabled: true, instructions: '' },
        updated_at: expect.any(Number),
        last_used: expect.any(Number),
      },
    });
    expect(renamed.body.updated_at).toBeGreaterThan(made.updated_at);
    const replaced = await api.patch(path, { initialAgent: 'c', agents: [{ _id: 'c', title: 'C' }] });
    expect(idsOf(replaced.body.agents)).toEqual(['c']);
    expect((await api.get(path)).body).toEqual(replaced.body);
    const execution = (await api.get(`/execute_flow/${prepared.body.execution_id}`)).body;
    expect(execution.agentflow).toEqual(prepared.body.agentflow);
    expect([execution.agentflow.name, idsOf(execution.agentflow.agents)]).toEqual(['Flow', ['a', 'b']]);
    await api.post(`/execute_flow/${execution._id}/execute`, {});
    const ended = await eventually(async () => {
      const { body } = await api.get(`/execute_flow/${execution._id}`);
      expect(body.status).toBe('completed');
      return body;
    });
    expect(ended.agents_output.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual(['a', 'b']);
  });

  test('refuses invalid changes and read-only fields, and changes nothing', async () => {
    const { api } = await createWorkspace(deps);
    const made = await create(api);
    const path = `/agentflow/${made._id}`;
    expect(await api.patch(path, { initialAgent: 'z' })).toMatchObject(
      refusal(422, 'validation_failed', 'initialAgent'),
    );
    expect(await api.patch(path, { agents: [{ _id: 'c', title: 'C' }] })).toMatchObject(
      refusal(422, 'validation_failed', 'initialAgent'),
    );
    expect(await api.patch(path, { is_deleted: true, revision: 9 })).toMatchObject(
      refusal(400, 'invalid_request', '"revision"'),
    );
    expect(await api.patch(path, { name: null })).toMatchObject(refusal(400, 'invalid_request', 'name'));
    expect((await api.get(path)).body).toMatchObject(made);
  });
});

describe('DELETE /agentflow/{id}', () => {
  test('returns the last record and removes it from reads, lists and new executions', async () => {
    verifies('platform.agentflows.delete');
    const { api } = await createWorkspace(deps);
    const made = await create(api);
    const path = `/agentflow/${made._id}`;
    expect(await api.delete(path)).toMatchObject({
      status: 200,
      body: { ...made, is_deleted: true, updated_at: expect.any(Number) },
    });
    expect(await api.get(path)).toMatchObject(refusal(404, 'not_found'));
    expect(await api.delete(path)).toMatchObject(refusal(404, 'not_found'));
    expect((await api.get('/agentflow')).body).toMatchObject({ data: [], total_count: 0 });
    expect(await api.post('/execute_flow', { agentflow_id: made._id, goal: 'g' })).toMatchObject(
      refusal(404, 'not_found'),
    );
  });
});

test('agentflow routes require svc:orchestrate.read for reads and svc:orchestrate.write for changes', async () => {
  verifies('platform.grants.read', 'platform.grants.write');
  const workspace = await createWorkspace(deps);
  const made = await create(workspace.api);
  const path = `/agentflow/${made._id}`;
  const keyed = async (...grants: Grant[]) =>
    apiClient(workspace.api.url, { 'x-api-key': await createKey(deps, workspace, { grants }) });
  const nothing = await keyed('svc:query.read', 'svc:docs.read');
  for (const read of ['/agentflow', path, `${path}/user/u/project/${workspace.projectID}`]) {
    expect(await nothing.get(read)).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.read'));
  }
  const reader = await keyed('svc:orchestrate.read');
  for (const api of [nothing, reader]) {
    for (const post of ['/agentflow', `${path}/agent`, `${path}/agent/a`]) {
      expect(await api.post(post, { name: 'F', title: 'F' })).toMatchObject(
        refusal(403, 'access_denied', 'svc:orchestrate.write'),
      );
    }
    expect(await api.patch(path, { name: 'F' })).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.write'));
    expect(await api.delete(path)).toMatchObject(refusal(403, 'access_denied', 'svc:orchestrate.write'));
  }
  expect((await reader.get('/agentflow')).body).toMatchObject({ total_count: 1, data: [made] });
});

test('versions are listed and read as they were promoted, and agentflows are found by text', async () => {
  verifies('agentflow.versions');
  const { api } = await createWorkspace(deps);
  const { _id } = await create(api, { ...twoAgents, description: 'one (1)' });
  await create(api, { ...twoAgents, name: 'Other' });
  const names = async (text: string) =>
    (await api.get(`/agentflow?text=${encodeURIComponent(text)}`)).body.data.map(({ name }: { name: string }) => name);
  expect([await names('ONE (1'), await names('oth'), await names(_id), await names('.*')]).toEqual([
    ['Flow'],
    ['Other'],
    ['Flow'],
    [],
  ]);
  for (const description of ['two', 'three']) {
    await api.post(`/agentflow/${_id}/promote`, {});
    await api.patch(`/agentflow/${_id}`, { description });
  }
  const { body } = await api.get(`/agentflow/${_id}/versions?limit=1`);
  expect(body).toMatchObject({ data: [{ agentflow_id: _id, version: 2 }], total_count: 2 });
  const next = await api.get(`/agentflow/${_id}/versions?limit=1&cursor=${body.next_cursor}`);
  expect(next.body).toMatchObject({ data: [{ version: 1 }], next_cursor: null });
  expect((await api.get(`/agentflow/${_id}/versions/1`)).body.agentflow).toMatchObject({ description: 'one (1)' });
  expect((await api.get(`/agentflow/${_id}`)).body).toMatchObject({ description: 'three', promoted_version: 2 });
  const foreign = (await createWorkspace(deps)).api;
  for (const path of [`/agentflow/${_id}/versions/3`, `/agentflow/${_id}/versions/0`])
    expect(await api.get(path)).toMatchObject(refusal(404, 'not_found'));
  for (const path of [`/agentflow/${_id}/versions`, `/agentflow/${_id}/versions/1`])
    expect(await foreign.get(path)).toMatchObject(refusal(404, 'not_found'));
});
