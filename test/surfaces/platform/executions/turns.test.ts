import { describe, expect, test } from '@jest/globals';
import { createReconciler } from '../../../../src/domain/executions/reconcile.js';
import { maxWaiting } from '../../../../src/domain/run-turns/rules.js';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { closedAs, moveExecution, runOf, untilExecution, untilListed } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

interface Limited {
  workspace: Workspace;
  agentflowId: string;
  /** Starts a run whose action calls an address with this name. Returns its id. */
  start(name: string, more?: object): Promise<string>;
  hold(name: string): () => void;
  /** The names in the order of the calls. */
  called(): (string | undefined)[];
}

async function limitedFlow(concurrency: object | null): Promise<Limited> {
  const workspace = await createWorkspace(deps);
  const { api, projectID } = workspace;
  const flow = { ...flowThatCalls([`${sink.url}/${projectID}/{{ inputs.name }}`]), concurrency };
  const { body, status } = await api.post(`/agentflow?projectID=${projectID}`, flow);
  expect(status).toBe(201);
  return {
    workspace,
    agentflowId: body._id,
    async start(name, more = {}) {
      const request = { agentflow_id: body._id, goal: 'the sink', input_variables: { name, ...more } };
      const created = await api.post(`/execute_flow?projectID=${projectID}`, request);
      expect(created).toMatchObject({ status: 201 });
      const id = created.body.execution_id;
      expect(await moveExecution(workspace, id, 'execute', {}, { 'idempotency-key': id })).toMatchObject({
        status: 200,
      });
      return id;
    },
    hold: (name) => sink.hold(`/${projectID}/${name}`),
    called: () => sink.seen(`/${projectID}`).map(({ path }) => path.split('/').at(-1)),
  };
}

const waits = (key: string | null = null) => ({
  status: 'ready',
  execution_context: { waiting_for: { kind: 'turn', key, since: expect.any(Number) } },
});

/** Waits until no run has a turn or waits for one. */
async function untilNoneHasTurn(agentflowId: string): Promise<void> {
  await eventually(async () =>
    expect(await deps.mongo.collections.turn_queues.findOne({ _id: agentflowId })).toMatchObject({
      running: [],
      waiting: [],
      next_at: null,
    }),
  );
}

describe('an agentflow with concurrency.limit 1', () => {
  test('runs one of five at once, in the order of their starts', async () => {
    verifies('execution.turns');
    const { workspace, agentflowId, start, hold, called } = await limitedFlow({ limit: 1 });
    const release = hold('one');
    const ids = [await start('one')];
    await eventually(() => expect(called()).toEqual(['one']));
    for (const name of ['two', 'three', 'four', 'five']) {
      ids.push(await start(name));
      await untilExecution(workspace, ids.at(-1) ?? '', waits());
    }
    expect(called()).toEqual(['one']);
    release();
    for (const id of ids) await untilExecution(workspace, id, 'completed');
    expect(called()).toEqual(['one', 'two', 'three', 'four', 'five']);
    const records = await deps.mongo.collections.executions.find({ _id: { $in: ids } }).toArray();
    const times = records.sort((a, b) => (a.started_at ?? 0) - (b.started_at ?? 0));
    for (const [at, { started_at }] of times.entries())
      expect(started_at).toBeGreaterThanOrEqual(times[at - 1]?.end_time ?? 0);
    expect(records.map((record) => record.execution_context.waiting_for)).toEqual(ids.map(() => null));
    await untilNoneHasTurn(agentflowId);
  });

  test('shows that a run waits: in the list, in monitoring, in its events and in Temporal', async () => {
    verifies('execution.turns.shown');
    const { workspace, start, hold } = await limitedFlow({ limit: 1 });
    const release = hold('first');
    const first = await start('first');
    await untilExecution(workspace, first, 'running');
    const second = await start('second');
    await untilListed(workspace, second, waits());
    expect(await workspace.api.get(`/execute_flow/${second}/monitoring`)).toMatchObject({
      body: { status: 'ready', steps: [], waiting_for: { kind: 'turn', key: null } },
    });
    const { searchAttributes, raw } = await runOf(deps, second).describe();
    expect(raw.workflowExecutionInfo?.status).toBe(1);
    expect(searchAttributes.AgentflowStatus).toEqual(['ready']);
    const page = await workspace.api.get(
      `/${workspace.projectID}/execution_flows?projectID=${workspace.projectID}&waiting_for=turn`,
    );
    expect(page.body.data.map(({ _id }: { _id: string }) => _id)).toEqual([second]);
    release();
    await untilExecution(workspace, second, 'completed');
    const events = await deps.mongo.collections.execution_events
      .find({ execution_id: second })
      .sort({ seq: 1 })
      .toArray();
    expect(events.slice(0, 2)).toMatchObject([{ type: 'turn_awaited', data: { key: null } }, { type: 'started' }]);
  });

  test('lets a waiting run be cancelled at once, and not be paused', async () => {
    verifies('execution.turns.cancel');
    const { workspace, agentflowId, start, hold, called } = await limitedFlow({ limit: 1 });
    const release = hold('first');
    const first = await start('first');
    await untilExecution(workspace, first, 'running');
    const second = await start('second');
    await untilExecution(workspace, second, waits());
    const third = await start('third');
    await untilExecution(workspace, third, waits());
    expect(await moveExecution(workspace, second, 'pause')).toMatchObject({ status: 409, body: { error: 'conflict' } });
    expect(await moveExecution(workspace, second, 'cancel')).toMatchObject({ status: 200, body: { status: 'failed' } });
    const cancelled = await untilExecution(workspace, second, 'failed');
    expect(cancelled.execution_context).toMatchObject({ waiting_for: null, failure: { reason: 'cancelled' } });
    expect(await closedAs(deps, second)).toBe('CANCELLED');
    await eventually(async () => {
      const queue = await deps.mongo.collections.turn_queues.findOne({ _id: agentflowId });
      expect(queue?.waiting.map(({ execution_id }) => execution_id)).toEqual([third]);
    });
    release();
    await untilExecution(workspace, third, 'completed');
    expect(called()).toEqual(['first', 'third']);
    await untilNoneHasTurn(agentflowId);
  });

  test.concurrent('gives the turn of a run that was terminated, or is cancelled, to the next', async () => {
    verifies('execution.turns.freed');
    const { workspace, agentflowId, start, hold } = await limitedFlow({ limit: 1 });
    const releases = ['first', 'second', 'fourth'].map(hold);
    const first = await start('first');
    await untilExecution(workspace, first, 'running');
    const second = await start('second');
    await untilExecution(workspace, second, waits());
    const third = await start('third');
    await untilExecution(workspace, third, waits());
    const fourth = await start('fourth');
    await untilExecution(workspace, fourth, waits());
    await runOf(deps, first).terminate('by hand');
    await runOf(deps, third).terminate('by hand');
    const pass = createReconciler(deps);
    await eventually(async () => {
      await pass().catch(() => undefined);
      const { body } = await workspace.api.get(`/execute_flow/${second}`);
      expect(body.status).toBe('running');
    });
    expect(await moveExecution(workspace, second, 'cancel')).toMatchObject({ status: 200 });
    await untilExecution(workspace, fourth, 'running');
    for (const release of releases) release();
    await untilExecution(workspace, fourth, 'completed');
    await untilNoneHasTurn(agentflowId);
  });

  test.concurrent('gives the turns of a raised or removed limit to runs that wait', async () => {
    verifies('execution.turns.changed-limit');
    const { workspace, agentflowId, start, hold, called } = await limitedFlow({ limit: 1 });
    const releases = ['one', 'two', 'three'].map(hold);
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) ids.push(await start(name));
    await untilExecution(workspace, ids[0] ?? '', 'running');
    for (const id of ids.slice(1)) await untilExecution(workspace, id, waits());
    const change = (concurrency: object | null) => workspace.api.patch(`/agentflow/${agentflowId}`, { concurrency });
    expect(await change({ limit: 2 })).toMatchObject({ status: 200 });
    await untilExecution(workspace, ids[1] ?? '', 'running');
    await eventually(() => expect(called()).toEqual(['one', 'two']));
    expect(await change(null)).toMatchObject({ status: 200, body: { concurrency: null } });
    await eventually(() => expect(called()).toEqual(['one', 'two', 'three']));
    for (const release of releases) release();
    for (const id of ids) await untilExecution(workspace, id, 'completed');
    await untilNoneHasTurn(agentflowId);
  });

  test('ends a run if 10,000 runs wait already, and says so', async () => {
    verifies('execution.turns.bounded');
    const { workspace, agentflowId, start } = await limitedFlow({ limit: 1 });
    const entry = () => ({ execution_id: newId(), key: null, at: 1 });
    const waiting = Array.from({ length: maxWaiting }, entry);
    await deps.mongo.collections.turn_queues.insertOne({
      ...{ _id: agentflowId, revision: 1, running: [entry()], waiting, next_at: null },
    });
    const id = await start('one');
    const ended = await untilExecution(workspace, id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({
      code: 'too_many_waiting',
      message: expect.stringContaining('10000 runs of the agentflow already wait'),
    });
  });
});

describe('an agentflow with a concurrency key', () => {
  test('limits the runs of each key, and keys do not wait for each other', async () => {
    verifies('execution.turns', 'execution.turns.fair');
    const concurrency = { limit: 2, key: '{{ customer_id }}', limit_per_key: 1 };
    const { workspace, agentflowId, start, hold, called } = await limitedFlow(concurrency);
    const release = hold('busy');
    const busy: string[] = [];
    for (let at = 0; at < 20; at += 1) busy.push(await start(`busy${at}`, { customer_id: 'A' }));
    await eventually(() => expect(called()).toHaveLength(1));
    await untilExecution(workspace, busy.at(-1) ?? '', waits('A'));
    const other = await start('other', { customer_id: 'B' });
    await untilExecution(workspace, other, 'completed');
    expect(called().filter((name) => name !== 'other')).toHaveLength(1);
    release();
    for (const id of busy) await untilExecution(workspace, id, 'completed');
    await untilNoneHasTurn(agentflowId);
  });

  test('refuses a run without the inputs of the key, and one whose key is too long', async () => {
    verifies('execution.turns.key');
    const { workspace, agentflowId } = await limitedFlow({ limit: 1, key: '{{ customer_id }}' });
    const create = (input_variables: object) =>
      workspace.api.post(`/execute_flow?projectID=${workspace.projectID}`, {
        ...{ agentflow_id: agentflowId, goal: 'the sink', input_variables },
      });
    expect(await create({ name: 'x' })).toMatchObject({
      status: 422,
      body: { error_description: 'concurrency.key needs the variable "customer_id"' },
    });
    expect(await create({ name: 'x', customer_id: 'x'.repeat(201) })).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('at most 200 characters') },
    });
  });

  test('gives a rerun the key of its own inputs', async () => {
    verifies('execution.turns.key');
    const { workspace, start } = await limitedFlow({ limit: 1, key: '{{ customer_id }}' });
    const id = await start('one', { customer_id: 'A' });
    await untilExecution(workspace, id, 'completed');
    const { body } = await workspace.api.post(`/execute_flow/${id}/rerun`, {
      input_variables: { name: 'two', customer_id: 'B' },
    });
    const record = await deps.mongo.collections.executions.findOne({ _id: body.execution_id });
    expect(record?.flow?.turn).toEqual({ key: 'B' });
  });
});

describe('POST and PATCH /agentflow', () => {
  test('take and show concurrency, also in versions and in the marketplace', async () => {
    verifies('agentflow.concurrency');
    const concurrency = { limit: 3, key: '{{ customer_id }}', limit_per_key: 1 };
    const { workspace, agentflowId } = await limitedFlow(concurrency);
    const { api, projectID } = workspace;
    expect(await api.get(`/agentflow/${agentflowId}`)).toMatchObject({ body: { concurrency } });
    expect(await api.post(`/agentflow/${agentflowId}/promote`, {})).toMatchObject({ status: 200 });
    expect(await api.get(`/agentflow/${agentflowId}/versions/1`)).toMatchObject({
      body: { agentflow: { concurrency } },
    });
    const published = await api.post('/marketplace', { agentflow_id: agentflowId });
    expect(published).toMatchObject({ status: 201 });
    const hired = await api.post(`/marketplace/coworker/${published.body._id}/hire?projectID=${projectID}`, {});
    expect(hired).toMatchObject({ body: { concurrency } });
  });

  test.each([
    [{}, 'concurrency: requires limit or limit_per_key'],
    [{ limit_per_key: 1 }, 'concurrency.limit_per_key: requires concurrency.key'],
    [{ limit: 1, key: '{{ broken' }, 'concurrency.key: is not a valid Liquid template'],
    [{ limit: 0 }, 'concurrency.limit'],
    [{ limit: 1001 }, 'concurrency.limit'],
    [{ limit: 1, limits: 2 }, 'concurrency'],
  ])('refuse %j', async (concurrency, problem) => {
    verifies('agentflow.concurrency');
    const workspace = await createWorkspace(deps);
    const { status, body } = await workspace.api.post(`/agentflow?projectID=${workspace.projectID}`, {
      ...{ name: 'Limited', concurrency },
    });
    expect([400, 422]).toContain(status);
    expect(body.error_description).toContain(problem);
  });
});
