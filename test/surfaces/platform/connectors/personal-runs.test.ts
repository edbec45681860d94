import { expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { untilExecution } from '../../../support/executions.js';
import { personOf, type Workspace } from '../../../support/fixture.js';
import { authorize } from '../../../support/oauth-mcp.js';
import { verifies } from '../../../support/verifies.js';
import { useProtectedServer } from './protected-server.js';

/** Who may influence a run that uses a personal account at an MCP server. */
const at = useProtectedServer();

interface Influenced {
  flow: string;
  execution: string;
  connector: string;
  owner: Workspace;
  other: Workspace;
}
type Interfere = (run: Influenced) => Promise<unknown>;

const changeConnector: Interfere = ({ connector, other }) =>
  other.api.patch(`/connectors/${other.projectID}/${connector}`, { config: { auth: { type: 'oauth' } } });

const ways: [string, { before?: Interfere; prepared?: Interfere; starter?: 'other' }][] = [
  ['edited the agentflow', { before: ({ flow, other }) => other.api.patch(`/agentflow/${flow}`, { role: 'Spy' }) }],
  ['changed the configuration of a connector', { before: changeConnector }],
  ['started the run that its person had prepared', { starter: 'other' }],
  [
    'edited an act or a preview of the run, or answered a question',
    {
      prepared: ({ execution, other }) =>
        at.deps.mongo.collections.executions.updateOne({ _id: execution }, { $addToSet: { shaped_by: other.userId } }),
    },
  ],
];

test.each(ways)(
  'a personal account does not serve a run if somebody else %s',
  async (_, { before, prepared, starter }) => {
    verifies('mcp-oauth.own-runs');
    const { member: owner, id } = await at.authorized();
    const other = await at.personIn(owner);
    const { name, flow } = at.flowThatCalls(id, 'whoami');
    const made = await owner.api.post(`/agentflow?projectID=${owner.projectID}`, flow);
    expect(made.status).toBe(201);
    const of = { flow: made.body._id, execution: '', connector: id, owner, other };
    const answer = before && ((await before(of)) as { status: number });
    if (answer) expect(answer.status).toBe(200);
    const request = { agentflow_id: of.flow, goal: newId() };
    const run = await owner.api.post(`/execute_flow?projectID=${owner.projectID}`, request);
    of.execution = run.body.execution_id;
    await prepared?.(of);
    const by = starter === 'other' ? other : owner;
    expect(await by.api.post(`/execute_flow/${of.execution}/execute`, {})).toMatchObject({ status: 200 });
    await untilExecution(owner, of.execution, 'completed');
    expect(at.answersOf(name)).toMatchObject([
      { error: { code: 'authorization_needed', message: expect.stringContaining('also caused by') } },
    ]);
  },
);

/** A flow of the owner that somebody else has changed, and clients of both as signed-in people. */
async function changedFlow(change?: Interfere) {
  const { member: owner, id } = await at.authorized();
  const other = await at.personIn(owner);
  const { name, flow } = at.flowThatCalls(id, 'whoami');
  const made = await owner.api.post(`/agentflow?projectID=${owner.projectID}`, flow);
  const all: Influenced = { flow: made.body._id, execution: '', connector: id, owner, other };
  const edit = () => other.api.patch(`/agentflow/${all.flow}`, { role: newId() });
  await (change ? change(all) : edit());
  const prepare = async () => {
    const request = { agentflow_id: all.flow, goal: newId() };
    const run = await owner.api.post(`/execute_flow?projectID=${owner.projectID}`, request);
    return run.body.execution_id as string;
  };
  const answerOf = async (execution: string, starter = owner) => {
    expect(await starter.api.post(`/execute_flow/${execution}/execute`, {})).toMatchObject({ status: 200 });
    await untilExecution(owner, execution, 'completed');
    return at.answersOf(name)?.[0];
  };
  const url = at.url;
  const [person, colleague] = [
    await personOf(at.deps, owner, { url }),
    await personOf(at.deps, other, { url, userId: other.userId }),
  ];
  const path = `/connectors/${owner.projectID}/${id}/agreements`;
  const agree = async (execution: string, by = person) => {
    const offer = await by.get(`${path}/runs/${execution}`);
    const { content_digest } = offer.body;
    return by.post(path, {
      execution_id: execution,
      ...(offer.status === 200 ? { content_digest } : { content_digest: '' }),
    });
  };
  return { ...all, path, edit, prepare, answerOf, person, colleague, agree };
}

const refusal = { error: { code: 'authorization_needed' } };

test.each([
  ['the agentflow', undefined],
  ['the connector', changeConnector],
])('the owner agrees to what somebody else changed: %s', async (_, change) => {
  verifies('mcp-oauth.agreements');
  const { prepare, answerOf, agree, person, path, other, connector } = await changedFlow(change);
  const first = await prepare();
  const refused = await answerOf(first);
  expect(refused).toMatchObject(refusal);
  expect(refused.error.message).toContain(`/connectors/${connector}?run=${first}`);
  const offer = await person.get(`${path}/runs/${first}`);
  expect(offer).toMatchObject({
    status: 200,
    body: { changed_by: [{ user_id: other.userId }], tools: ['whoami'], agreement_id: null, server: at.server.url },
  });
  expect(offer.body.text).toContain(`use your account at ${at.server.url}`);
  const agreed = await agree(first);
  expect(agreed).toMatchObject({ status: 200, body: { execution_id: first, is_in_force: true } });
  expect(JSON.stringify(await answerOf(await prepare()))).toContain('ann');

  const listed = await person.get(path);
  expect(listed.body.data).toMatchObject([{ agreement_id: agreed.body.agreement_id, is_in_force: true }]);
  expect(await person.delete(`${path}/${agreed.body.agreement_id}`)).toMatchObject({ status: 200 });
  expect(await answerOf(await prepare())).toMatchObject(refusal);
});

test('an agreement ends with every further change, and with another authorization', async () => {
  verifies('mcp-oauth.agreements');
  const { prepare, answerOf, agree, edit, owner, connector, person, path } = await changedFlow();
  expect(await agree(await prepare())).toMatchObject({ status: 200 });
  await edit();
  const changed = await prepare();
  expect(await answerOf(changed)).toMatchObject(refusal);
  expect(await agree(changed)).toMatchObject({ status: 200 });
  expect(JSON.stringify(await answerOf(await prepare()))).toContain('ann');
  expect(await authorize(owner, connector, 'ann')).toMatchObject({ status: 200 });
  expect(await answerOf(await prepare())).toMatchObject(refusal);
  expect((await person.get(path)).body.data.map((each: any) => each.is_in_force)).toEqual([false, false]);
});

test('an agreement does not cover runs that somebody else starts or edits, or their reruns', async () => {
  verifies('mcp-oauth.agreements');
  const { prepare, answerOf, agree, other, owner } = await changedFlow();
  expect(await agree(await prepare())).toMatchObject({ status: 200 });
  const startedByOther = await prepare();
  expect(await answerOf(startedByOther, other)).toMatchObject(refusal);
  expect((await agree(startedByOther)).status).toBe(409);
  const edited = await prepare();
  const { executions } = at.deps.mongo.collections;
  await executions.updateOne({ _id: edited }, { $addToSet: { shaped_by: other.userId } });
  expect(await answerOf(edited)).toMatchObject(refusal);
  const rerun = await owner.api.post(`/execute_flow/${startedByOther}/rerun`, {});
  expect(await answerOf(rerun.body.execution_id)).toMatchObject(refusal);
});

test('only the signed-in owner agrees, and only to what they read', async () => {
  verifies('mcp-oauth.agreements');
  const { prepare, answerOf, agree, colleague, owner, path, edit, person } = await changedFlow();
  const run = await prepare();
  const { content_digest } = (await person.get(`${path}/runs/${run}`)).body;
  const byKey = await owner.api.post(path, { execution_id: run, content_digest });
  expect([byKey.status, byKey.body.error_description]).toEqual([403, expect.stringContaining('signed-in person')]);
  expect(await agree(run, colleague)).toMatchObject({ status: 404 });
  await edit();
  const stale = await person.post(path, { execution_id: await prepare(), content_digest });
  expect([stale.status, stale.body.error_description]).toEqual([409, expect.stringContaining('read it again')]);
  expect(await answerOf(await prepare())).toMatchObject(refusal);
});
