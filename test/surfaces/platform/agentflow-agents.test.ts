import { describe, expect, test } from '@jest/globals';
import { defaultQuota } from '../../../src/domain/customers/rules.js';
import { newId } from '../../../src/base/ids.js';
import type { ApiClient } from '../../support/client.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const idsOf = (records: { _id: string }[]) => records.map(({ _id }) => _id);
const twoAgents = {
  name: 'Flow',
  agents: [
    { _id: 'a', title: 'A', next_agent: 'b' },
    { _id: 'b', title: 'B' },
  ],
};

async function create(api: ApiClient, body: object = twoAgents) {
  const answer = await api.post('/agentflow', body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

/** Leaves the state of a process that died after it stored the record and before it stored the answer. */
async function loseAnswer(recordId: string) {
  const lost = { answer: null, leased_until: new Date(0) };
  expect(await deps.mongo.collections.idempotency.updateOne({ record_id: recordId }, { $set: lost })).toMatchObject({
    matchedCount: 1,
  });
}

describe('POST /agentflow/{id}/agent', () => {
  test('adds an agent up to the limit of the plan, with any call', async () => {
    verifies('platform.agentflows.agent-add');
    const { api } = await createWorkspace(deps);
    const most = defaultQuota.number_of_agents_per_coworker;
    const agents = Array.from({ length: most - 1 }, (_, at) => ({ _id: `agent_${at}`, title: `${at}` }));
    const { _id } = await create(api, { name: 'Crowd', agents });
    const path = `/agentflow/${_id}`;
    const last = await api.post(`${path}/agent`, { _id: 'last', title: 'Last', agent_type: 'skilled_agent' });
    expect(last).toMatchObject({ status: 201 });
    expect(last.body.agents).toHaveLength(most);
    const beyond = refusal(403, 'plan_limit', 'number_of_agents_per_coworker');
    expect(await api.post(`${path}/agent`, { title: 'Beyond' })).toMatchObject(beyond);
    const tooMany = [...agents, { title: 'x' }, { title: 'y' }];
    expect(await api.patch(path, { agents: tooMany })).toMatchObject(beyond);
    expect(await api.post('/agentflow', { name: 'Crowd', agents: tooMany })).toMatchObject(beyond);
    expect((await api.get(path)).body).toEqual(last.body);
  });

  test('adds an agent at the end; the first agent of a draft becomes the initial one', async () => {
    verifies('platform.agentflows.agent-add');
    const { api } = await createWorkspace(deps);
    const draft = await create(api, { name: 'Draft' });
    const path = `/agentflow/${draft._id}`;
    const key = { 'idempotency-key': newId() };
    const first = await api.post(`${path}/agent`, { title: 'A' }, key);
    await loseAnswer(first.body.agents[0]._id);
    expect(first).toMatchObject({
      status: 201,
      body: { initialAgent: first.body.agents[0]._id, agents: [{ title: 'A' }] },
    });
    expect(await api.post(`${path}/agent`, { title: 'A' }, key)).toMatchObject({ status: 201, body: first.body });
    const second = await api.post(`${path}/agent`, { _id: 'b', title: 'B', next_agent: first.body.initialAgent });
    expect(second).toMatchObject({
      status: 201,
      body: { initialAgent: first.body.initialAgent, agents: [{ title: 'A' }, { _id: 'b' }] },
    });
    expect(await api.post(`${path}/agent`, { _id: 'b', title: 'B' })).toMatchObject(
      refusal(422, 'validation_failed', 'the _id "b" must be unique'),
    );
    for (const _id of ['__proto__', 'constructor', 'toString'])
      expect(await api.post(`${path}/agent`, { _id, title: 'C' })).toMatchObject(
        refusal(400, 'invalid_request', '_id: must not be a reserved name'),
      );
    expect(await api.post(`${path}/agent`, { title: 'C', next_agent: 'z' })).toMatchObject(
      refusal(422, 'validation_failed', 'next_agent'),
    );
    expect(await api.post(`${path}/agent`, { title: 'C', colour: 'red' })).toMatchObject(
      refusal(400, 'invalid_request', 'colour'),
    );
    expect((await api.get(path)).body).toEqual(second.body);
  });

  test('keeps all of ten agents that are added concurrently with other changes', async () => {
    const { api } = await createWorkspace(deps);
    const { _id } = await create(api);
    const ids = Array.from({ length: 10 }, (_, at) => `added_${at}`);
    const [patched, ...added] = await Promise.all([
      api.patch(`/agentflow/${_id}`, { name: 'Renamed' }),
      ...ids.map((id) => api.post(`/agentflow/${_id}/agent`, { _id: id, title: id })),
    ]);
    expect(patched.status).toBe(200);
    for (const answer of added) expect(answer.status).toBe(201);
    const { name, agents } = (await api.get(`/agentflow/${_id}`)).body;
    expect(name).toBe('Renamed');
    expect(idsOf(agents).sort()).toEqual(['a', 'b', ...ids].sort());
  });
});

describe('POST /agentflow/{id}/agent/{agent_id}', () => {
  test('changes only that agent', async () => {
    verifies('platform.agentflows.agent-update');
    const { api } = await createWorkspace(deps);
    const made = await create(api);
    const [a, b] = made.agents;
    const path = `/agentflow/${made._id}/agent/a`;
    const changed = await api.post(path, { next_agent: null, llm: { temperature: 1 } });
    expect(changed).toMatchObject({
      status: 200,
      body: { agents: [{ ...a, next_agent: null, llm: { model: '', temperature: 1, max_tokens: null } }, b] },
    });
    expect(await api.post(path, { next_agent: 'a' })).toMatchObject(refusal(422, 'validation_failed', 'a → a'));
    expect(await api.post(path, { _id: 'c' })).toMatchObject(refusal(400, 'invalid_request', '_id'));
    expect(await api.post(`/agentflow/${made._id}/agent/z`, { title: 'Z' })).toMatchObject(refusal(404, 'not_found'));
    expect((await api.get(`/agentflow/${made._id}`)).body).toEqual(changed.body);
  });
});
