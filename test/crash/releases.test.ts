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

interface Write {
  command: string;
  of: string;
  /** Whether it takes effect after the kill, or never. */
  isApplied: boolean;
}

/** Kills the API while one of its writes is on its way, and repeats the call with another API until the answer has the status. */
async function killedAt(workspace: Workspace, call: Call, { command, of, isApplied }: Write, status = 200) {
  let apply: () => void = () => undefined;
  let noteApplied: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (apply = resolve));
  const applied = new Promise<void>((resolve) => (noteApplied = resolve));
  const met = members.fault(to(command, `^${of}$`), { until, applied: noteApplied });
  const lost = call(product.through(workspace)).catch(() => undefined);
  const early = await Promise.race([met.then(() => undefined), lost]);
  expect(early).toBeUndefined();
  await product.kill('api');
  if (isApplied) {
    apply();
    await applied;
  }
  await lost;
  await product.start('api');
  // As the service does once the lease of the lost call has ended; then its approval can be used again.
  const { governance, mongo, log } = deps;
  await sweepIntents({ collections: mongo.collections, ...governance, log }, Date.now() + 61_000);
  return eventually(async () => {
    const answer = await call(product.through(workspace));
    expect(answer).toMatchObject({ status });
    return answer;
  }, patience);
}

const historyOf = async ({ api }: Workspace, id: string) =>
  (await api.get(`/agentflow/${id}/channels/production/history`)).body.data;
const released = async ({ api }: Workspace, id: string) => (await api.get(`/agentflow/${id}/versions`)).body.data;

describe('kill -9 of the API', () => {
  test.each([
    { command: 'insert', of: 'agentflow_versions', isApplied: true },
    { command: 'insert', of: 'agentflow_versions', isApplied: false },
    { command: 'update', of: 'agentflows', isApplied: true },
    { command: 'insert', of: 'lifecycles', isApplied: true },
  ])('during a publication ($command $of, applied: $isApplied): the repeat has one release', async (write) => {
    verifies('release.durable');
    const workspace = await createWorkspace(deps);
    const id = await create(workspace, returning(1));
    const key = { 'idempotency-key': newId() };
    const call: Call = ({ api }) => api.post(`/agentflow/${id}/versions`, { external_id: 'build' }, key);
    const { body } = await killedAt(workspace, call, write);
    expect(await released(workspace, id)).toEqual([body]);
    // The next release is the second one.
    expect(await publishEach(workspace, id, [2])).toMatchObject([{ version: 2, base: body.digest }]);
  });

  /** An agentflow whose first release is in production, and an approved call that points it to the second release or publishes it again. */
  async function approvedCall(way: 'pointing' | 'promotion') {
    const workspace = await createWorkspace(deps);
    const person = await personOf(deps, workspace);
    const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
    const id = await create(workspace, returning(0));
    const [{ digest: expected }] = await publishEach(workspace, id, [1, 2]);
    await pointed(workspace, id, 'production', { version: 1, expected: null });
    const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['release.point'] };
    await person.put('/v1/policies', { policies: [{ policy_id: 'permit', effect: 'permit' }, ask] });
    const callWith =
      (headers = {}): Call =>
      ({ api }) =>
        way === 'pointing'
          ? api.put(`/agentflow/${id}/channels/production`, { version: 2, expected }, headers)
          : api.post(`/agentflow/${id}/promote`, {}, headers);
    const { approval_id } = (await callWith()(workspace)).body;
    expect(await approver.post(`/v1/approvals/${approval_id}/approve`, {})).toMatchObject({ status: 200 });
    const { resume_token } = (await bearerClient(workspace.apiKey).get(`/v1/approvals/${approval_id}`)).body;
    const call = callWith({ 'x-resume-token': resume_token, 'idempotency-key': newId() });
    // A promotion publishes what it points to.
    const pointsTo = { version: way === 'pointing' ? 2 : 3, approval_id };
    return { workspace, id, call, approval_id, pointsTo };
  }

  test.each([
    { way: 'pointing', command: 'insert', of: 'channel_moves', isApplied: true },
    { way: 'pointing', command: 'update', of: 'agentflows', isApplied: true },
    { way: 'pointing', command: 'update', of: 'agentflows', isApplied: false },
    { way: 'promotion', command: 'update', of: 'agentflows', isApplied: true },
    { way: 'promotion', command: 'insert', of: 'lifecycles', isApplied: false },
  ] as const)(
    'during an approved $way ($command $of, applied: $isApplied): it moves once',
    async ({ way, ...write }) => {
      verifies('release.durable');
      const { workspace, id, call, pointsTo } = await approvedCall(way);
      const { body } = await killedAt(workspace, call, write);
      expect(body).toMatchObject(pointsTo);
      expect(await historyOf(workspace, id)).toMatchObject([pointsTo, { version: 1 }]);
    },
  );

  test.each(['pointing', 'promotion'] as const)(
    'after an approved %s was recorded, before it was answered: its repeat is told that the approval was used',
    async (way) => {
      verifies('release.durable', 'approval.used-call');
      const { workspace, id, call, approval_id, pointsTo } = await approvedCall(way);
      const write = { command: 'insert', of: 'lifecycles', isApplied: true };
      const { body } = await killedAt(workspace, call, write, 403);
      expect(body).toMatchObject({ error: 'S6:approval', error_description: expect.stringContaining('`used_by`') });
      const [latest, ...earlier] = await historyOf(workspace, id);
      expect([latest, earlier]).toMatchObject([pointsTo, [{ version: 1 }]]);
      const { body: approval } = await bearerClient(workspace.apiKey).get(`/v1/approvals/${approval_id}`);
      expect(approval).toMatchObject({ status: 'used', used_by: latest.lifecycle_id });
    },
  );
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
