import { expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { agentThatCalls } from '../../../support/flows.js';
import { bearerClient } from '../../../support/gateway.js';
import { refusal } from '../../../support/refusal.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';
import { scheduled, soon } from '../schedules/schedules.js';
import { create, point, pointed, publish, publishEach, returning } from './releases.js';

const deps = useDeps();
const sink = await useHttpSink();

const channelsOf = async ({ api }: Workspace, id: string) => (await api.get(`/agentflow/${id}/channels`)).body.channels;

test('of 100 calls at once that expect the same release, one succeeds', async () => {
  verifies('release.point');
  const workspace = await createWorkspace(deps);
  const id = await create(workspace, returning(0));
  const releases = await publishEach(workspace, id, [1, 2, 3, 4, 5]);
  const digests = releases.map(({ digest }) => digest);
  let expected: string | null = null;
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        point(workspace, id, 'production', { version: ((n + round) % 5) + 1, expected }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    const others = answers.filter(({ status }) => status !== 200);
    // A call that expects what its own release is can follow the one that has won.
    const [first] = won.filter(({ body }) => body.digest !== expected);
    expect(others.every(({ status, body }) => status === 409 && body.error === 'conflict')).toBe(true);
    expect(won.filter(({ body }) => body.digest !== expected)).toHaveLength(1);
    const [channel] = await channelsOf(workspace, id);
    expect(channel).toMatchObject({ channel: 'production', digest: first?.body.digest });
    expect(digests).toContain(channel.digest);
    expected = channel.digest;
  }
});

test('a channel goes back to an earlier release, and says so', async () => {
  verifies('release.point');
  const workspace = await createWorkspace(deps);
  const { api, userId } = workspace;
  const id = await create(workspace, returning(0));
  const [first, second] = await publishEach(workspace, id, [1, 2]);
  const started = await pointed(workspace, id, 'production', { version: 1, expected: null });
  expect(started).toMatchObject({
    ...{ agentflow_id: id, channel: 'production', version: 1, digest: first.digest, slots: {}, split: null },
    ...{ promoted_by: userId, promoted_at: expect.any(Number) },
  });
  expect(await point(workspace, id, 'production', { version: 2, expected: null })).toMatchObject(
    refusal(409, 'conflict', first.digest),
  );
  await pointed(workspace, id, 'production', { version: 2, expected: first.digest });
  expect((await api.get(`/agentflow/${id}`)).body).toMatchObject({ promoted_version: 2 });
  await pointed(workspace, id, 'production', { version: 1, expected: second.digest });
  expect((await api.get(`/agentflow/${id}`)).body).toMatchObject({ promoted_version: 1 });
  expect(await api.post('/execute_flow', { agentflow_id: id, goal: 'go' })).toMatchObject({
    body: { release: { version: 1, digest: first.digest } },
  });
  expect(await point(workspace, id, 'production', { version: 7, expected: first.digest })).toMatchObject(
    refusal(404, 'not_found'),
  );
  for (const name of ['draft', 'Production', 'a.b', '$set', '__proto__'])
    expect((await point(workspace, id, name, { version: 1, expected: null })).status).toBe(404);
  expect(await pointed(workspace, id, 'constructor', { version: 1, expected: null })).toMatchObject({ version: 1 });
  expect(await channelsOf(workspace, id)).toMatchObject([{ channel: 'constructor' }, { channel: 'production' }]);
  // A promotion publishes and points, also after a rollback.
  expect(await api.post(`/agentflow/${id}/promote`, {})).toMatchObject({ body: { version: 3, digest: second.digest } });
});

test('a schedule that fires during promotions runs one of the releases wholly', async () => {
  verifies('release.starts', 'release.kept');
  const workspace = await createWorkspace(deps);
  const { projectID, api } = workspace;
  const agents = (v: number) => ({
    name: 'Two steps',
    agents: [
      agentThatCalls([`${sink.url}/${projectID}/${v}/one`], 'agent_1', 'agent_2'),
      agentThatCalls([`${sink.url}/${projectID}/${v}/two`], 'agent_2'),
    ],
  });
  const id = await create(workspace, agents(1));
  const first = await publish(workspace, id);
  await api.patch(`/agentflow/${id}`, agents(2));
  const second = await publish(workspace, id);
  let { digest } = await pointed(workspace, id, 'production', { version: 1, expected: null });
  await scheduled(workspace, {
    coworker_id: id,
    type: 'interval',
    frequency: 1,
    overlap: 'allow_all',
    limit: 6,
    schedule: soon(1),
  });
  const { executions } = deps.mongo.collections;
  await eventually(async () => {
    ({ digest } = await pointed(workspace, id, 'production', {
      version: digest === first.digest ? 2 : 1,
      expected: digest,
    }));
    expect(await executions.countDocuments({ projectID, status: 'completed' })).toBe(6);
  });
  for (const run of await executions.find({ projectID }).toArray()) {
    const { version = 0, digest: taken } = run.release ?? {};
    expect(taken).toBe([first, second][version - 1].digest);
    const urls = run.plan.flatMap(({ skills }) =>
      skills.flatMap(({ actions }) => actions.map(({ endpoint }) => endpoint)),
    );
    expect(urls.every((url) => url.includes(`/${projectID}/${version}/`))).toBe(true);
  }
});

test('a share of the runs takes another release, always the same for the same run', async () => {
  verifies('release.split');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const id = await create(workspace, returning(0));
  const [, second] = await publishEach(workspace, id, [1, 2]);
  const split = { version: 2, percent: 50 };
  expect(await pointed(workspace, id, 'production', { version: 1, expected: null, split })).toMatchObject({
    split: { ...split, digest: second.digest },
  });
  const versions = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const { body } = await api.post('/execute_flow', { agentflow_id: id, goal: 'go' });
      return body.release.version;
    }),
  );
  expect(new Set(versions)).toEqual(new Set([1, 2]));
  const headers = { 'idempotency-key': newId() };
  const again = () => api.post('/execute_flow', { agentflow_id: id, goal: 'go' }, headers);
  const [one, two] = [await again(), await again()];
  expect(one.body.release).toEqual(two.body.release);
});

test('a channel names the connectors of a release, which must exist and have the right category', async () => {
  verifies('release.slots');
  const workspace = await createWorkspace(deps);
  const { api, projectID } = workspace;
  const connector = async (name: string, category = 'restful') => {
    const config = category === 'restful' ? { base_url: `${sink.url}/${projectID}/${name}` } : {};
    const made = await api.post(`/actions/${category}/config?projectID=${projectID}`, { name, config });
    expect(made).toMatchObject({ status: 200 });
    return made.body._id as string;
  };
  const [test, live, mail] = [await connector('Orders'), await connector('live'), await connector('post', 'mail')];
  const agent = agentThatCalls(['/new']);
  const skills = agent.skills.map((skill) => ({ ...skill, connector_id: test }));
  const id = await create(workspace, { name: 'Orders', agents: [{ ...agent, skills }] });
  const { slots, digest } = await publish(workspace, id);
  expect(slots).toEqual([{ name: 'orders', category: 'restful', connector_id: test }]);
  const at = (given: object) => point(workspace, id, 'production', { version: 1, expected: null, slots: given });
  expect(await at({ orders: newId() })).toMatchObject(refusal(422, 'validation_failed', 'slots.orders: the connector'));
  expect(await at({ orders: mail })).toMatchObject(refusal(422, 'validation_failed', 'slots.orders: requires'));
  expect(await at({ other: live })).toMatchObject(refusal(422, 'validation_failed', 'there are orders'));
  expect(await at({ orders: live })).toMatchObject({ status: 200, body: { slots: { orders: live } } });
  await pointed(workspace, id, 'staging', { version: 1, expected: null });
  for (const channel of ['production', 'staging']) {
    const { body } = await api.post('/execute_flow', { agentflow_id: id, goal: 'go', channel });
    await api.post(`/execute_flow/${body.execution_id}/execute`, {});
    await untilExecution(workspace, body.execution_id, 'completed');
  }
  expect(sink.seen(`/${projectID}/`).map(({ path }) => path)).toEqual([
    `/${projectID}/live/new`,
    `/${projectID}/Orders/new`,
  ]);
  expect(await api.delete(`/connectors/${projectID}/${live}`)).toMatchObject({ status: 200 });
  const start = { agentflow_id: id, goal: 'go' };
  expect(await api.post('/execute_flow', start)).toMatchObject(refusal(422, 'validation_failed', 'slots.orders'));
  await pointed(workspace, id, 'production', { version: 1, expected: digest, slots: {} });
  expect(await api.post('/execute_flow', start)).toMatchObject({ status: 201 });
});

test('rules and approvals apply to every way to promote, and the audit names the difference', async () => {
  verifies('release.point.governed');
  const workspace = await createWorkspace(deps);
  const { api, organizationId } = workspace;
  const person = await personOf(deps, workspace);
  const id = await create(workspace, returning(0));
  const [first, second] = await publishEach(workspace, id, [1, 2]);
  const rule = (effect: string, name: string) => ({ policy_id: 'promotions', effect, tools: [name] });
  const rules = async (...given: object[]) =>
    expect(
      await person.put('/v1/policies', { policies: [{ policy_id: 'permit', effect: 'permit' }, ...given] }),
    ).toMatchObject({ status: 200 });
  await rules(rule('forbid', 'agentflow.promote'));
  expect(await point(workspace, id, 'production', { version: 1, expected: null })).toMatchObject({ status: 403 });
  expect(await api.post(`/agentflow/${id}/promote`, {})).toMatchObject({ status: 403 });
  await rules();
  await pointed(workspace, id, 'production', { version: 1, expected: null });
  await rules({ ...rule('require_approval', 'release.point'), when: 'context.input.channel == "production"' });
  await pointed(workspace, id, 'staging', { version: 2, expected: null });
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  const change = { version: 2, expected: first.digest };
  const held = await point(workspace, id, 'production', change);
  expect(held).toMatchObject({ status: 202, body: { approval_id: expect.any(String) } });
  const path = `/v1/approvals/${held.body.approval_id}`;
  expect((await approver.get(path)).body.payload).toMatchObject({
    input: { version: 2, expected: first.digest },
    bound: { from: first.digest, to: second.digest },
    about: { difference: { changes: [{ path: 'steps/end', change: 'changed' }] } },
  });
  expect(await approver.post(`${path}/approve`, {})).toMatchObject({ status: 200 });
  const { resume_token } = (await bearerClient(workspace.apiKey).get(path)).body;
  const headers = { 'x-resume-token': resume_token };
  const resumed = await api.put(`/agentflow/${id}/channels/production`, change, headers);
  expect(resumed).toMatchObject({ status: 200, body: { version: 2, difference_digest: expect.any(String) } });
  const difference = await api.get(`/agentflow/${id}/diff?from=1&to=2`);
  expect(resumed.body.difference_digest).toBe(difference.body.digest);
  const [entry] = await deps.mongo.collections.audit_entries
    .find({ _id: { $gt: `${organizationId}:`, $lt: `${organizationId};` }, action: 'release.point' })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  expect(entry).toMatchObject({
    resource: `agentflow:${id}`,
    outcome: `completed: difference ${difference.body.digest}`,
  });
});

test('an approver sees what the other release of a split does, and rules read its share', async () => {
  verifies('release.point.governed', 'release.split');
  const workspace = await createWorkspace(deps);
  const person = await personOf(deps, workspace);
  const id = await create(workspace, returning(0));
  const [first] = await publishEach(workspace, id, [1, 2]);
  await pointed(workspace, id, 'production', { version: 1, expected: null });
  const rule = { policy_id: 'ask', effect: 'require_approval', tools: ['release.point'] };
  const when = 'principal.kind == "api_key" && context.input.split_percent > 10';
  await person.put('/v1/policies', {
    policies: [
      { policy_id: 'permit', effect: 'permit' },
      { ...rule, when },
    ],
  });
  const at = (percent: number) =>
    point(workspace, id, 'production', { version: 1, expected: first.digest, split: { version: 2, percent } });
  expect(await at(10)).toMatchObject({ status: 200 });
  const held = await at(11);
  expect(held.status).toBe(202);
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  expect((await approver.get(`/v1/approvals/${held.body.approval_id}`)).body.payload).toMatchObject({
    about: {
      difference: { changes: [] },
      split: { percent: 11, difference: { changes: [{ path: 'steps/end', change: 'changed' }] } },
    },
  });
});

test('an approved promotion changes nothing when the channel has moved meanwhile', async () => {
  verifies('release.point.governed');
  const workspace = await createWorkspace(deps);
  const { api } = workspace;
  const person = await personOf(deps, workspace);
  const id = await create(workspace, returning(0));
  const [first, second] = await publishEach(workspace, id, [1, 2, 3]);
  await pointed(workspace, id, 'production', { version: 1, expected: null });
  const ask = {
    policy_id: 'ask',
    effect: 'require_approval',
    tools: ['release.point'],
    when: 'principal.kind == "api_key"',
  };
  await person.put('/v1/policies', { policies: [{ policy_id: 'permit', effect: 'permit' }, ask] });
  const change = { version: 3, expected: first.digest };
  const held = await point(workspace, id, 'production', change);
  expect(held.status).toBe(202);
  const path = `/v1/approvals/${held.body.approval_id}`;
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  expect(await approver.post(`${path}/approve`, {})).toMatchObject({ status: 200 });
  const { resume_token } = (await bearerClient(workspace.apiKey).get(path)).body;
  await pointed({ api: person }, id, 'production', { version: 2, expected: first.digest });
  const resumed = await api.put(`/agentflow/${id}/channels/production`, change, { 'x-resume-token': resume_token });
  expect(resumed).toMatchObject(refusal(409, 'conflict', second.digest));
  expect((await channelsOf(workspace, id))[0]).toMatchObject({ version: 2, digest: second.digest });
});
