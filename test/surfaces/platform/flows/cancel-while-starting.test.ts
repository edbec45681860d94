import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, prepareExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import type { SentCommand } from '../../../support/mongo-wire.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api, ProductProcess } from '../../../support/processes.js';
import { startReplicaSet } from '../../../support/replica-set.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';

const uri = testRun().env.MONGODB_URI ?? '';
const members = await startReplicaSet(uri);
const deps = useDeps();
const { executions, questions, approvals } = deps.mongo.collections;
const product = ownProduct({ MONGODB_URI: members.uri(new URL(uri).pathname.slice(1)) });
let api: Api;
let worker: ProductProcess;

beforeAll(async () => {
  [api, worker] = await Promise.all([product.api(), product.worker()]);
});
let release: () => void = () => undefined;
afterEach(() => release());
afterAll(() => members.close());

const waits = { name: 'Waits', initialAgent: 'w', steps: [{ _id: 'w', type: 'wait', event: { name: 'go' } }] };
const asking = { _id: 'ask', type: 'ask', form: { type: 'object', properties: { yes: { type: 'boolean' } } } };

async function starting({ api: client }: Workspace, change: object = {}) {
  const { body } = await client.post('/agentflow', waits);
  return { _id: 'call', type: 'flow', agentflow_id: body._id, ...change };
}

/** Starts a run, and stops its worker at this command to MongoDB until `release`. */
async function stoppedAt(workspace: Workspace, steps: { _id: string }[], [name, collection]: [string, string]) {
  const flow = { name: 'Begins', initialAgent: steps[0]?._id, steps };
  const { execution_id: id } = await prepareExecution(workspace, flow);
  const until = new Promise<void>((resolve) => (release = resolve));
  const fits = (command: SentCommand) => command.name === name && command.collection === collection;
  const met = members.fault(fits, { until });
  expect(await moveExecution(workspace, id, 'execute')).toMatchObject({ status: 200 });
  await met;
  return id as string;
}

async function nothingOpen({ projectID }: Workspace, cancelled: number) {
  await eventually(async () => {
    const runs = await executions.find({ projectID }).toArray();
    expect(runs.map(({ status }) => status).filter((status) => status !== 'failed' && status !== 'completed')).toEqual(
      [],
    );
    const ends = runs.map(({ execution_context }) => execution_context.failure as { reason: string } | undefined);
    expect(ends.filter((failure) => failure?.reason === 'cancelled')).toHaveLength(cancelled);
    expect(await questions.countDocuments({ project_id: projectID, status: 'waiting' })).toBe(0);
    expect(await approvals.countDocuments({ project_id: projectID, status: 'pending' })).toBe(0);
  });
}

const workspaceOf = async () => product.through(api, await createWorkspace(deps));
const cancel = async (workspace: Workspace, id: string) =>
  expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });

describe('a cancel', () => {
  test.each([true, false])('while another run is prepared also ends that run (wait: %s)', async (wait) => {
    verifies('flow.control.nothing-open');
    const workspace = await workspaceOf();
    const id = await stoppedAt(workspace, [await starting(workspace, { wait })], ['insert', 'executions']);
    await cancel(workspace, id);
    await untilExecution(workspace, id, 'failed');
    release();
    await eventually(async () => expect(await executions.countDocuments({ parent_execution_id: id })).toBe(1));
    await nothingOpen(workspace, 2);
  });

  test('while a question is stored takes it out of the inbox', async () => {
    verifies('flow.control.nothing-open');
    const workspace = await workspaceOf();
    const id = await stoppedAt(workspace, [asking], ['insert', 'questions']);
    await cancel(workspace, id);
    release();
    await eventually(async () => expect(await questions.countDocuments({ execution_id: id })).toBe(1));
    await nothingOpen(workspace, 1);
  });

  test('while the approval of a start is requested withdraws it', async () => {
    verifies('flow.control.nothing-open');
    const workspace = await workspaceOf();
    const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN', url: workspace.api.url });
    const policies = [
      { policy_id: 'permit', effect: 'permit' },
      {
        policy_id: 'ask',
        effect: 'require_approval',
        tools: ['execution.start'],
        when: 'principal.kind == "execution"',
      },
    ];
    expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
    const id = await stoppedAt(workspace, [await starting(workspace)], ['insert', 'approvals']);
    await cancel(workspace, id);
    release();
    await eventually(async () => expect(await approvals.countDocuments({ execution_id: id })).toBe(1));
    await nothingOpen(workspace, 1);
  });

  test('that meets a worker killed between the record and the start of the other run ends both', async () => {
    verifies('flow.control.nothing-open', 'flow.durable');
    const workspace = await workspaceOf();
    const id = await stoppedAt(workspace, [await starting(workspace)], ['insert', 'executions']);
    await cancel(workspace, id);
    await worker.end('SIGKILL');
    release();
    worker = await product.worker();
    await eventually(async () => expect(await executions.countDocuments({ parent_execution_id: id })).toBe(1));
    await nothingOpen(workspace, 2);
  });
});

const race = (slow: { _id: string }, next: string | null = null) => ({
  ...{ _id: 'race', type: 'parallel', join: 'any', next },
  branches: [
    { name: 'slow', first: slow._id },
    { name: 'event', first: 'w' },
  ],
});

describe.each([
  ['is requested', false, ['insert', 'approvals']],
  ['was requested, and whose worker is killed', true, ['insert', 'lifecycles']],
] as [string, boolean, [string, string]][])('an act whose approval %s', (_when, isKilled, command) => {
  test('leaves no approval when its path is no longer needed, while the run goes on', async () => {
    verifies('flow.control.nothing-open');
    const workspace = await workspaceOf();
    const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN', url: workspace.api.url });
    const policies = [
      { policy_id: 'permit', effect: 'permit' },
      { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] },
    ];
    expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
    const pay = { _id: 'pay', type: 'action', action: { name: 'Pay', endpoint: 'http://127.0.0.1:9/never' } };
    const end = { _id: 'end', type: 'wait', event: { name: 'end' } };
    const id = await stoppedAt(workspace, [race(pay, 'end'), pay, end, ...waits.steps], command);
    expect(await workspace.api.post(`/execute_flow/${id}/events`, { name: 'go' })).toMatchObject({ status: 200 });
    if (isKilled) await worker.end('SIGKILL');
    release();
    if (isKilled) worker = await product.worker();
    await untilExecution(workspace, id, { execution_context: { waiting_for: { kind: 'event', name: 'end' } } });
    await eventually(async () => {
      const asked = await approvals.find({ execution_id: id }).toArray();
      expect(asked.map(({ status }) => status)).toEqual(['rejected']);
    });
    expect(await workspace.api.post(`/execute_flow/${id}/events`, { name: 'end' })).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');
    await nothingOpen(workspace, 0);
  });
});

test.each([
  ['another run', 'executions'],
  ['a question', 'questions'],
])('a branch that is no longer needed while it begins %s leaves nothing open', async (_what, collection) => {
  verifies('flow.control.nothing-open');
  const workspace = await workspaceOf();
  const slow = collection === 'questions' ? asking : await starting(workspace);
  const id = await stoppedAt(workspace, [race(slow), slow, ...waits.steps], ['insert', collection]);
  expect(await workspace.api.post(`/execute_flow/${id}/events`, { name: 'go' })).toMatchObject({ status: 200 });
  release();
  await untilExecution(workspace, id, 'completed');
  await nothingOpen(workspace, collection === 'questions' ? 0 : 1);
});
