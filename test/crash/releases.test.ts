import { afterAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { sweepIntents } from '../../src/governance/sweep.js';
import type { Answer } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { untilExecution } from '../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { bearerClient } from '../support/gateway.js';
import { startReplicaSet } from '../support/replica-set.js';
import { testRun } from '../support/run.js';
import { useRunningProduct } from '../support/running-product.js';
import { to } from '../support/store-faults.js';
import { verifies } from '../support/verifies.js';
import { create, pointed, publish, publishEach, returning } from '../surfaces/platform/releases/releases.js';
import { scheduled, soon } from '../surfaces/platform/schedules/schedules.js';

const uri = testRun().env.MONGODB_URI ?? '';
const members = await startReplicaSet(uri);
const deps = useDeps();
const product = useRunningProduct({ MONGODB_URI: members.uri(new URL(uri).pathname.slice(1)) });
afterAll(() => members.close());
const patience = { timeoutMs: 120_000, everyMs: 500 };

type Call = (through: Workspace) => Promise<Answer>;

/**
 * Kills the API while one of its writes is on its way, and repeats the call with another API until it succeeds. The write takes
 * effect after the kill, or never.
 */
async function killedAt(
  workspace: Workspace,
  call: Call,
  [command = '', collection = '']: string[],
  isApplied: boolean,
) {
  let apply: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (apply = resolve));
  const met = members.fault(to(command, `^${collection}$`), { until });
  const lost = call(product.through(workspace)).catch(() => undefined);
  const early = await Promise.race([met.then(() => undefined), lost]);
  expect(early).toBeUndefined();
  await product.kill('api');
  if (isApplied) apply();
  await lost;
  await product.start('api');
  // As the service does once the lease of the lost call has ended; then its approval can be used again.
  const { governance, mongo, log } = deps;
  await sweepIntents({ collections: mongo.collections, ...governance, log }, Date.now() + 61_000);
  return eventually(async () => {
    const answer = await call(product.through(workspace));
    expect(answer).toMatchObject({ status: 200 });
    return answer;
  }, patience);
}

const historyOf = async ({ api }: Workspace, id: string) =>
  (await api.get(`/agentflow/${id}/channels/production/history`)).body.data;
const released = async ({ api }: Workspace, id: string) => (await api.get(`/agentflow/${id}/versions`)).body.data;

describe.each([true, false])('kill -9 of the API, whose write takes effect: %s', (isApplied) => {
  test.each([
    ['insert', 'agentflow_versions'],
    ['update', 'agentflows'],
    ['insert', 'lifecycles'],
  ])('during a publication, at the %s of %s: the repeat has one release', async (...write) => {
    verifies('release.durable');
    const workspace = await createWorkspace(deps);
    const id = await create(workspace, returning(1));
    const key = { 'idempotency-key': newId() };
    const call: Call = ({ api }) => api.post(`/agentflow/${id}/versions`, { external_id: 'build' }, key);
    const { body } = await killedAt(workspace, call, write, isApplied);
    expect(await released(workspace, id)).toEqual([body]);
    // The next release is the second one.
    expect(await publishEach(workspace, id, [2])).toMatchObject([{ version: 2, base: body.digest }]);
  });

  test.each([
    ['pointing', 'insert', 'channel_moves'],
    ['pointing', 'update', 'agentflows'],
    ['pointing', 'insert', 'lifecycles'],
    ['promotion', 'update', 'agentflows'],
    ['promotion', 'insert', 'lifecycles'],
  ] as const)('during an approved %s, at the %s of %s: the channel moves once', async (way, ...write) => {
    verifies('release.durable');
    const workspace = await createWorkspace(deps);
    const person = await personOf(deps, workspace);
    const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
    const id = await create(workspace, returning(0));
    const [first, second] = await publishEach(workspace, id, [1, 2]);
    await pointed(workspace, id, 'production', { version: 1, expected: null });
    const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['release.point'] };
    await person.put('/v1/policies', { policies: [{ policy_id: 'permit', effect: 'permit' }, ask] });
    const change = (headers = {}): Call =>
      way === 'pointing'
        ? ({ api }) => {
            const body = { version: 2, expected: first.digest };
            return api.put(`/agentflow/${id}/channels/production`, body, headers);
          }
        : ({ api }) => api.post(`/agentflow/${id}/promote`, {}, headers);
    const { approval_id } = (await change()(workspace)).body;
    expect(await approver.post(`/v1/approvals/${approval_id}/approve`, {})).toMatchObject({ status: 200 });
    const { resume_token } = (await bearerClient(workspace.apiKey).get(`/v1/approvals/${approval_id}`)).body;
    const approved = change({ 'x-resume-token': resume_token, 'idempotency-key': newId() });
    const { body } = await killedAt(workspace, approved, [...write], isApplied);
    // A promotion publishes what it points to.
    const version = way === 'pointing' ? 2 : 3;
    expect(body).toMatchObject({ version, digest: second.digest, approval_id });
    expect(await historyOf(workspace, id)).toMatchObject([{ version, approval_id }, { version: 1 }]);
  });
});

/** Two agents that call an address of this version one after the other. */
const calling = ({ projectID }: Workspace, version: number) => {
  const url = (name: string) => `${product.sink.url}/${projectID}/${version}/${name}`;
  return flowThatCalls([url('one')], [url('two')]);
};

test('a run goes on with its release after an edit, a promotion and a kill of both', async () => {
  verifies('release.durable', 'release.kept');
  const direct = await createWorkspace(deps);
  const id = await create(direct, calling(direct, 1));
  const first = await publish(direct, id);
  await pointed(direct, id, 'production', { version: 1, expected: null });
  const held = `/${direct.projectID}/1/one`;
  const release = product.sink.hold(held);
  const { body } = await product
    .through(direct)
    .api.post('/execute_flow?execute=true', { agentflow_id: id, goal: 'go' });
  await eventually(() => expect(product.sink.seen(held).length).toBeGreaterThan(0));
  expect(await direct.api.patch(`/agentflow/${id}`, calling(direct, 2))).toMatchObject({ status: 200 });
  await publish(direct, id);
  await pointed(direct, id, 'production', { version: 2, expected: first.digest });
  await product.kill('api', 'worker');
  await product.start('api', 'worker');
  release();
  await untilExecution(product.through(direct), body.execution_id, 'completed');
  const paths = new Set(product.requestsOf(direct).map(({ path }) => path));
  expect(paths).toEqual(new Set([held, `/${direct.projectID}/1/two`]));
});

test('each run of a schedule takes one release wholly, while promotions and kills go on', async () => {
  verifies('release.durable', 'release.starts');
  const direct = await createWorkspace(deps);
  const { projectID } = direct;
  const id = await create(direct, calling(direct, 1));
  const first = await publish(direct, id);
  expect(await direct.api.patch(`/agentflow/${id}`, calling(direct, 2))).toMatchObject({ status: 200 });
  const second = await publish(direct, id);
  let { digest } = await pointed(direct, id, 'production', { version: 1, expected: null });
  const plan = { type: 'interval', frequency: 1, overlap: 'allow_all', limit: 8, schedule: soon(1) };
  await scheduled(product.through(direct), { coworker_id: id, ...plan });
  const { executions } = deps.mongo.collections;
  const move = async () => {
    const version = digest === first.digest ? 2 : 1;
    ({ digest } = await pointed(direct, id, 'production', { version, expected: digest }));
  };
  for (const what of ['worker', 'api'] as const) {
    await eventually(async () => {
      await move();
      expect(await executions.countDocuments({ projectID })).toBeGreaterThan(what === 'worker' ? 0 : 2);
    }, patience);
    await product.kill(what);
    await move();
    await product.start(what);
  }
  await eventually(async () => {
    await move();
    expect(await executions.countDocuments({ projectID, status: 'completed' })).toBe(8);
  }, patience);
  const callsOf = (run: string) =>
    product
      .requestsOf(direct)
      .filter(({ key }) => key?.startsWith(`${run}/`))
      .map(({ path }) => path);
  for (const { _id, release } of await executions.find({ projectID }).toArray()) {
    const { version = 0, digest: taken } = release ?? {};
    expect(taken).toBe([first, second][version - 1].digest);
    expect(new Set(callsOf(_id))).toEqual(new Set(['one', 'two'].map((name) => `/${projectID}/${version}/${name}`)));
  }
});

test('an approval goes on after a kill of the worker, and its call points the channel once', async () => {
  verifies('release.durable');
  const direct = await createWorkspace(deps);
  const person = await personOf(deps, direct);
  const approver = await personOf(deps, direct, { userId: newId(), role: 'ORG_ADMIN' });
  const id = await create(direct, returning(0));
  await publishEach(direct, id, [1]);
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['release.point'] };
  await person.put('/v1/policies', { policies: [{ policy_id: 'permit', effect: 'permit' }, ask] });
  const path = `/agentflow/${id}/channels/production`;
  const change = { version: 1, expected: null };
  const { approval_id } = (await product.through(direct).api.put(path, change)).body;
  await product.kill('worker');
  const approve = () => approver.post(`/v1/approvals/${approval_id}/approve`, {});
  expect(await approve()).toMatchObject({ status: 503 });
  await product.start('worker');
  const status = async () => (await bearerClient(direct.apiKey).get(`/v1/approvals/${approval_id}`)).body;
  await eventually(async () => {
    // The first decision may have taken effect although its answer was lost.
    if ((await status()).status === 'pending') await approve();
    expect(await status()).toMatchObject({ status: 'approved' });
  }, patience);
  const headers = { 'x-resume-token': (await status()).resume_token };
  expect(await direct.api.put(path, change, headers)).toMatchObject({ status: 200, body: { approval_id } });
  expect(await historyOf(direct, id)).toMatchObject([{ version: 1, approval_id }]);
});
