import { describe, expect, test } from '@jest/globals';
import { ask, decide, useActs } from '../../../support/acts.js';
import { eventually } from '../../../support/eventually.js';
import { closedAs, moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, type Workspace } from '../../../support/fixture.js';
import { agentThatCalls } from '../../../support/flows.js';
import { verifies } from '../../../support/verifies.js';

const { deps, governed, sink } = await useActs();

/** A flow whose branches each call one path of the sink. */
function calling({ projectID }: Pick<Workspace, 'projectID'>, names: readonly string[], change: object = {}) {
  return {
    name: 'Branches',
    initialAgent: 'fan',
    agents: names.map((name) => agentThatCalls([`${sink.url}/${projectID}/${name}`], name)),
    steps: [
      { _id: 'fan', type: 'parallel', branches: names.map((name) => ({ name, first: name })), next: 'end', ...change },
      { _id: 'end', type: 'set', values: { names: 'outputs.fan.map(name, name)' } },
    ],
  };
}

const failsAt = ({ projectID }: Workspace, name: string, status = 400) =>
  sink.answer(`/${projectID}/${name}`, (_request, res) => void res.writeHead(status).end('no'));
const statusesOf = async ({ api }: Workspace, id: string) => {
  const { body } = await api.get(`/execute_flow/${id}/monitoring`);
  return Object.fromEntries(body.steps.map(({ step_id, status }: any) => [step_id, status]));
};

describe('a part that fails', () => {
  test('fails its step and cancels the other parts, and the run names the failed step', async () => {
    verifies('flow.errors');
    const workspace = await createWorkspace(deps);
    failsAt(workspace, 'bad');
    const release = sink.hold(`/${workspace.projectID}/slow`);
    const id = await startExecution(workspace, calling(workspace, ['slow', 'bad']));
    const { execution_context } = await untilExecution(workspace, id, 'failed');
    release();
    expect(execution_context.failure).toMatchObject({
      reason: 'step_failed',
      code: 'action_refused',
      step_id: 'fan/bad/bad/skill_1/action_1',
    });
    expect(await statusesOf(workspace, id)).toEqual({
      fan: 'failed',
      'fan/bad/bad/skill_1/action_1': 'failed',
      'fan/slow/slow/skill_1/action_1': 'cancelled',
    });
  });

  test('is kept as a result by a step that collects errors', async () => {
    verifies('flow.errors');
    const workspace = await createWorkspace(deps);
    failsAt(workspace, 'bad');
    const id = await startExecution(
      workspace,
      calling(workspace, ['good', 'bad'], { on_error: 'collect', next: null }),
    );
    const { conclusion } = await untilExecution(workspace, id, 'completed');
    expect(conclusion.output).toEqual({
      good: expect.any(String),
      bad: { error: { code: 'action_refused', message: expect.any(String) } },
    });
  });

  test.each([
    ['any', 1],
    [{ count: 2 }, 2],
  ])('join %j cancels the branches that are no longer needed', async (join, needed) => {
    verifies('flow.parallel');
    const workspace = await createWorkspace(deps);
    const release = sink.hold(`/${workspace.projectID}/slow`);
    const flow = calling(workspace, ['one', 'two', 'slow'], { join });
    const id = await startExecution(workspace, flow);
    const { conclusion } = await untilExecution(workspace, id, 'completed');
    release();
    expect(conclusion.output.names.length).toBeGreaterThanOrEqual(needed);
    expect(conclusion.output.names).not.toContain('slow');
    expect(await statusesOf(workspace, id)).toMatchObject({ 'fan/slow/slow/skill_1/action_1': 'cancelled' });
  });

  test('that is missing for a join fails the step with the reasons of all branches', async () => {
    verifies('flow.errors');
    const workspace = await createWorkspace(deps);
    for (const name of ['one', 'two']) failsAt(workspace, name);
    const flow = calling(workspace, ['one', 'two'], { join: 'any', on_error: 'collect' });
    const id = await startExecution(workspace, flow);
    const { execution_context } = await untilExecution(workspace, id, 'failed');
    expect(execution_context.failure.message).toMatch(/0 of the 1 branches.*one: .*two: /);
  });

  test.each([
    ['skip', ['1', '3']],
    ['collect', ['1', { error: { code: 'validation_failed', message: expect.any(String) } }, '3']],
  ])('of a map is left out or kept: %s', async (on_error, output) => {
    verifies('flow.errors', 'flow.map');
    const workspace = await createWorkspace(deps);
    const flow = {
      name: 'Map',
      initialAgent: 'each',
      steps: [
        { _id: 'each', type: 'map', items: '["1", "x", "3"]', first: 'number', on_error, next: 'texts' },
        { _id: 'number', type: 'set', values: { text: 'string(int(item))' } },
        { _id: 'texts', type: 'set', values: { list: 'outputs.each.map(one, has(one.text) ? one.text : one)' } },
      ],
    };
    const id = await startExecution(workspace, flow);
    expect((await untilExecution(workspace, id, 'completed')).conclusion.output).toEqual({ list: output });
  });
});

describe('a wait', () => {
  const waiting = (step: object) => ({
    name: 'Wait',
    initialAgent: 'pause',
    steps: [
      { _id: 'pause', type: 'wait', next: 'end', ...step },
      { _id: 'end', type: 'set', values: { done: 'true' } },
    ],
  });

  test.each([
    { seconds: 0 },
    { seconds: 1.5 },
    { until: '"2020-01-01T00:00:00Z"' },
    { until: 'timestamp("2020-01-01T00:00:00Z") + duration("1h")' },
  ])('ends: %j', async (step) => {
    verifies('flow.wait');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, waiting(step));
    const { started_at, ended_at } = (await untilExecution(workspace, id, 'completed').then(async () => {
      const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
      return body.steps[0];
    })) as { started_at: number; ended_at: number };
    expect(ended_at - started_at).toBeGreaterThanOrEqual(step.seconds ?? 0);
  });

  test('until something that is no time fails', async () => {
    verifies('flow.wait');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, waiting({ until: '"tomorrow"' }));
    const { execution_context } = await untilExecution(workspace, id, 'failed');
    expect(execution_context.failure).toMatchObject({ code: 'validation_failed', step_id: 'pause' });
  });

  test('has a clock that a pause stops, and is cancelled with its run', async () => {
    verifies('flow.wait', 'flow.control');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, waiting({ seconds: 4 }));
    await eventually(async () => expect(await statusesOf(workspace, id)).toEqual({ pause: 'running' }));
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    const pausedAt = Date.now();
    await eventually(() => expect(Date.now() - pausedAt).toBeGreaterThan(6000));
    expect(await statusesOf(workspace, id)).toEqual({ pause: 'running' });
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');

    const other = await startExecution(workspace, waiting({ seconds: 3600 }));
    await eventually(async () => expect(await statusesOf(workspace, other)).toEqual({ pause: 'running' }));
    expect(await moveExecution(workspace, other, 'cancel')).toMatchObject({ status: 200 });
    await untilExecution(workspace, other, 'failed');
    expect(await statusesOf(workspace, other)).toEqual({ pause: 'cancelled' });
    expect(await closedAs(deps, other)).toBe('CANCELLED');
  });
});

describe('an approval in a branch', () => {
  const rule = { ...ask, when: undefined };

  test('holds its branch alone, and only its own decision releases it', async () => {
    verifies('flow.approvals');
    const of = await governed(rule);
    const { workspace } = of;
    const id = await startExecution(workspace, calling(workspace, ['one', 'two', 'free'].slice(0, 2)));
    const approvals = await eventually(async () => {
      const { body } = await of.approver.get('/v1/approvals?status=pending');
      expect(body.data ?? body.approvals).toHaveLength(2);
      return (body.data ?? body.approvals) as { approval_id: string }[];
    });
    expect(of.seen()).toBe(0);
    const [first, second] = approvals.map(({ approval_id }) => approval_id);
    expect(await decide(of.approver, String(first), 'approve')).toMatchObject({ status: 200 });
    await eventually(() => expect(of.seen()).toBe(1));
    const waiting = await untilExecution(workspace, id, {
      status: 'running',
      execution_context: { waiting_for: { kind: 'approval', approval_id: second } },
    });
    expect(waiting.execution_context.waiting_for.path).toMatch(/^fan\/(one|two)$/);
    expect(of.seen()).toBe(1);
    expect(await decide(of.approver, String(second), 'reject')).toMatchObject({ status: 200 });
    const ended = await untilExecution(workspace, id, 'completed');
    expect(of.seen()).toBe(1);
    expect(ended.agents_output).toHaveLength(2);
  });

  test('is withdrawn when another branch fails or the run is cancelled', async () => {
    verifies('flow.approvals', 'flow.control');
    const of = await governed({ ...rule, when: undefined, tools: ['act.http'] });
    const { workspace } = of;
    const id = await startExecution(workspace, calling(workspace, ['one', 'two']));
    await eventually(async () => {
      const { body } = await of.approver.get('/v1/approvals?status=pending');
      expect(body.data ?? body.approvals).toHaveLength(2);
    });
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'failed');
    await eventually(async () => {
      const { body } = await of.approver.get('/v1/approvals?status=pending');
      expect(body.data ?? body.approvals).toHaveLength(0);
    });
    expect(of.seen()).toBe(0);
  });
});
