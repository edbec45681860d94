import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { createLightStepActivities } from '../../activities/light-steps.js';
import { newId } from '../../src/base/ids.js';
import { workflowBundle } from '../../src/workflow-code.js';
import type {
  AgentflowExecutionActivities,
  ExecutionProjection,
} from '../../workflows/agentflow-execution/activities.js';
import type { FlowStep } from '../../workflows/agentflow-execution/flow/flow-steps.js';
import {
  agentflowExecutionType,
  executionWorkflowId,
  pauseUpdate,
  resumeUpdate,
  stateQuery,
  type AgentflowExecutionInput,
} from '../../workflows/agentflow-execution/messages.js';
import type { StepRecord } from '../../workflows/agentflow-execution/step-record.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { agentPlan, executionPlan, modelTurn } from '../support/plans.js';
import { verifies } from '../support/verifies.js';
import { useWorkflowWorkers } from '../support/workflow-workers.js';

const taskQueue = `light-${newId()}`;
const deps = useDeps({ TEMPORAL_TASK_QUEUE: taskQueue });

/** What the code of a step does, by its source. */
const works: Record<string, (attempt: number) => Promise<unknown>> = {
  quick: async () => 1,
  large: async () => 'x'.repeat(200_000),
  brief: () => new Promise((resolve) => setTimeout(resolve, 100, 1)),
  slow: () => new Promise((resolve) => setTimeout(resolve, 300, 1)),
  endless: async (attempt) => (attempt > 1 ? 1 : new Promise((resolve) => setTimeout(resolve, 1500, 1))),
  passing: async (attempt) => {
    if (attempt > 1) return 1;
    throw ApplicationFailure.retryable('the store does not answer', 'unavailable');
  },
  final: async () => {
    throw ApplicationFailure.nonRetryable('line 1: it throws', 'validation_failed');
  },
};
/** How often each step ran. */
const attempts = new Map<string, number>();

/** The events of each run, as the record has them. */
const written = new Map<string, string[]>();

const steps: Partial<AgentflowExecutionActivities> = {
  runCode: async ({ idempotency_key, source }) => {
    const attempt = (attempts.get(idempotency_key) ?? 0) + 1;
    attempts.set(idempotency_key, attempt);
    return { value: await works[source]?.(attempt), attempts: 1 };
  },
  takeModelTurn: async () => ({ value: modelTurn('Done.'), attempts: 1 }),
};

useWorkflowWorkers(deps, taskQueue, {
  publishExecution: async ({ execution_id, events }: ExecutionProjection) => {
    const earlier = written.get(execution_id) ?? [];
    written.set(execution_id, [
      ...earlier,
      ...events.map(({ type, data }) => `${type} ${JSON.stringify(data.step_id)}`),
    ]);
  },
  giveWay: async () => undefined,
  ...steps,
  ...createLightStepActivities(steps, deps.tracing),
});

const code = (_id: string, source: string, next: string | null = null): FlowStep => ({
  ...{ _id, type: 'code', title: '', language: 'javascript' },
  ...{ source, inputs: {}, timeout_seconds: 10, next },
});

type Change = Partial<AgentflowExecutionInput>;

async function start(change: Change) {
  const execution_id = newId();
  const plan = executionPlan([], { execution_id, light_steps: { models: ['offline'] }, ...change });
  const workflowId = executionWorkflowId(execution_id);
  const { workflow } = deps.temporal.client;
  const handle = await workflow.start(agentflowExecutionType, { taskQueue, workflowId, args: [plan] });
  const runs = (step: string) => attempts.get(`${execution_id}/${step}`);
  return { execution_id, workflowId, handle, runs };
}

/** What the history of a run that has ended tells. A run replays. */
async function run(change: Change, meanwhile?: (started: Awaited<ReturnType<typeof start>>) => Promise<void>) {
  const started = await start(change);
  const { workflowId, handle } = started;
  await meanwhile?.(started);
  const outcome = await handle.result().catch((error: unknown) => (error as { cause?: unknown }).cause);
  const history = await handle.fetchHistory();
  const regular = (history.events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
  const tasks = (history.events ?? []).filter(({ workflowTaskCompletedEventAttributes: each }) => each).length;
  const local = (history.events ?? []).filter(({ markerRecordedEventAttributes: each }) => each).length;
  const dataConverter = deps.temporal.workerDataConverter;
  const sinks = { tracing: { runEnded: { fn: () => undefined } } };
  await Worker.runReplayHistory({ workflowBundle, dataConverter, sinks }, history, workflowId);
  return { ...started, outcome, regular, local, tasks };
}

describe.each([
  ['light steps', { batches_light_steps: true, yields_locally: true } as const],
  ['light steps of runs that began before there were batches', {}],
])('%s', (_which, plan) => {
  test('run within one workflow task, and models that write by rules as well', async () => {
    verifies('execution.light-steps');
    const agents = [{ ...agentPlan('a', 's'), llm: { model: 'offline', temperature: null, max_tokens: null } }];
    const steps = [code('s', 'quick', 't'), code('t', 'quick')];
    // On a machine that stands still for a second, a step is not light.
    await eventually(async () => {
      const { regular, tasks, runs } = await run({ ...plan, agents, first_agent_id: 'a', steps });
      expect({ regular, tasks }).toEqual({ regular: [], tasks: 1 });
      expect([runs('s'), runs('t')]).toEqual([1, 1]);
    });
  });

  test('are regular activities for other models, and in runs that began before', async () => {
    const agents = [{ ...agentPlan('a', null), llm: { model: 'big', temperature: null, max_tokens: null } }];
    expect((await run({ ...plan, agents, first_agent_id: 'a' })).regular).toContain('takeModelTurn');
    const { light_steps: _absent, ...earlier } = executionPlan([], {
      first_agent_id: 's',
      steps: [code('s', 'quick')],
    });
    const execution_id = newId();
    const handle = await deps.temporal.client.workflow.start(agentflowExecutionType, {
      ...{ taskQueue, workflowId: executionWorkflowId(execution_id) },
      args: [{ ...earlier, execution_id }],
    });
    await handle.result();
    const { events } = await handle.fetchHistory();
    expect(
      events?.some(({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'runCode'),
    ).toBe(true);
  });

  test.each([
    ['fail for a reason that may pass', 'passing'],
    ['take too long', 'endless'],
  ])('run again as regular activities if they %s', async (_why, source) => {
    verifies('execution.light-steps');
    const { outcome, regular, runs } = await run({ ...plan, first_agent_id: 's', steps: [code('s', source)] });
    expect(outcome).toMatchObject({ conclusion: '1' });
    expect(regular).toContain('runCode');
    expect(runs('s')).toBe(2);
  });

  test('with long results are spread over workflow tasks, whose size Temporal limits', async () => {
    const ids = Array.from({ length: 9 }, (_, at) => `s${at}`);
    const steps = ids.map((id, at) => code(id, 'large', ids[at + 1] ?? null));
    await eventually(async () => {
      const { regular, tasks } = await run({ ...plan, first_agent_id: 's0', steps });
      expect(regular).not.toContain('runCode');
      expect(tasks).toBeGreaterThan(1);
    });
  });

  test('fail at once for a reason that stays, with this reason', async () => {
    const { outcome, runs } = await run({ ...plan, first_agent_id: 's', steps: [code('s', 'final')] });
    expect(outcome).toMatchObject({ type: 'validation_failed', message: expect.stringContaining('it throws') });
    expect(runs('s')).toBe(1);
  });

  test('of many paths replay in the same order, and one that was slow is no longer light', async () => {
    verifies('execution.light-steps');
    const each: FlowStep = {
      ...{ _id: 'each', type: 'map', title: '', items: '[1, 2, 3, 4, 5, 6]', as: 'item', first: 'r' },
      ...{ concurrency: 6, on_error: 'fail', next: null },
    };
    const steps = [each, code('r', 'slow', 's'), code('s', 'quick')];
    const { outcome, regular } = await run({ ...plan, first_agent_id: 'each', steps });
    expect(outcome).toMatchObject({ output: [1, 1, 1, 1, 1, 1] });
    expect(regular.filter((name) => name === 'runCode').length).toBeGreaterThanOrEqual(5);
  });
});

describe('light steps that are ready at the same time', () => {
  const plan = { batches_light_steps: true, yields_locally: true } as const;
  const branchesOf = (...sources: string[]) => sources.map((source, at) => code(`s${at}`, source));
  const fanOf = (branches: FlowStep[], change: object = {}): FlowStep[] => [
    {
      ...{ _id: 'fan', type: 'parallel', title: '', join: 'all', on_error: 'collect', next: null },
      branches: branches.map(({ _id }) => ({ name: _id, first: _id })),
      ...change,
    },
    ...branches,
  ];
  const fan = { ...plan, first_agent_id: 'fan' };
  const statusOf = (records: StepRecord[], branch: string) =>
    records.find(({ step_id }) => step_id === `fan/${branch}/${branch}`)?.status;
  const times = (count: number, source: string) => Array.from({ length: count }, () => source);

  test('run as one local activity, and those that follow on their paths as the next one', async () => {
    verifies('execution.light-steps.batches');
    const ids = Array.from({ length: 20 }, (_one, at) => `s${at}`);
    const branches = ids.map((id) => code(id, 'quick', `${id}_next`));
    const following = ids.map((id) => code(`${id}_next`, 'quick'));
    await eventually(async () => {
      const { outcome, regular, local } = await run({ ...fan, steps: [...fanOf(branches), ...following] });
      expect(outcome).toMatchObject({ output: Object.fromEntries(ids.map((id) => [id, 1])) });
      // The third is the write of the record.
      expect({ regular, local }).toEqual({ regular: [], local: 3 });
    });
  });

  test('end each in its own way: one fails, one repeats, one is slow, and the others have run once', async () => {
    verifies('execution.light-steps.batches');
    const branches = branchesOf('quick', 'final', 'passing', 'endless', 'quick');
    const { outcome, regular, runs, handle } = await run({ ...fan, steps: fanOf(branches) });
    const error = { code: 'validation_failed', message: 'line 1: it throws' };
    expect(outcome).toMatchObject({ output: { s0: 1, s1: { error }, s2: 1, s3: 1, s4: 1 } });
    expect(regular.filter((name) => name === 'runCode')).toHaveLength(2);
    expect(branches.map(({ _id }) => runs(`fan/${_id}/${_id}`))).toEqual([1, 1, 2, 2, 1]);
    const { steps: records, slow_steps } = await handle.query(stateQuery);
    const ended = records.filter(({ kind }) => kind === 'code').map(({ status }) => status);
    expect(ended).toEqual(['completed', 'failed', 'completed', 'completed', 'completed']);
    expect(slow_steps).toEqual(['code/s3']);
  });

  test('have the events that they would have alone, in the order of their paths', async () => {
    const branches = branchesOf('quick', 'quick', 'quick');
    const ids = branches.map(({ _id }) => `fan/${_id}/${_id}`);
    await eventually(async () => {
      const { execution_id, regular } = await run({ ...fan, steps: fanOf(branches) });
      expect(regular).toEqual([]);
      const expected = [...ids.map((id) => `step_started "${id}"`), ...ids.map((id) => `step_completed "${id}"`)];
      expect(written.get(execution_id)?.filter((event) => event.includes('fan/'))).toEqual(expected);
    });
  });

  test('do not run if their path is cancelled before the batch begins', async () => {
    verifies('execution.light-steps.batches');
    const fails: FlowStep = { _id: 'fails', type: 'set', title: '', values: { n: '1 / 0' }, next: null };
    const steps = fanOf([code('s0', 'quick'), fails], { on_error: 'fail' });
    const { outcome, runs, handle } = await run({ ...fan, steps });
    expect(outcome).toMatchObject({ type: 'validation_failed' });
    expect(runs('fan/s0/s0')).toBeUndefined();
    const { steps: records } = await handle.query(stateQuery);
    expect(records.find(({ kind }) => kind === 'code')).toMatchObject({ status: 'cancelled' });
  });

  test('wait while the run is paused: those that the batch has left begin after it is resumed', async () => {
    verifies('execution.light-steps.batches');
    const branches = branchesOf(...times(16, 'brief'));
    let [atPause, beforeResume] = [0, -1];
    const meanwhile = async ({ handle, runs }: Awaited<ReturnType<typeof start>>) => {
      const begun = () => branches.filter(({ _id }) => runs(`fan/${_id}/${_id}`) !== undefined).length;
      await eventually(() => expect(begun()).toBeGreaterThan(0));
      await handle.executeUpdate(pauseUpdate, { args: [{}] });
      atPause = begun();
      await handle.query(stateQuery);
      beforeResume = begun();
      await handle.executeUpdate(resumeUpdate, { args: [{}] });
    };
    // Without `yields_locally`, a new workflow task begins after half a second of light steps.
    const { yields_locally: _local, ...change } = fan;
    const { outcome, runs } = await run({ ...change, steps: fanOf(branches) }, meanwhile);
    expect(outcome).toMatchObject({ output: { s0: 1, s15: 1 } });
    expect(atPause).toBeLessThan(16);
    expect(beforeResume).toBe(atPause);
    expect(branches.map(({ _id }) => runs(`fan/${_id}/${_id}`))).toEqual(branches.map(() => 1));
  });

  test('leave no step open if one of them ends the race, also those that the batch has left', async () => {
    verifies('execution.light-steps.batches');
    const losers = Array.from({ length: 8 }, (_one, at) => code(`s${at + 1}`, 'brief', `s${at + 1}_next`));
    const following = losers.map(({ _id }) => code(`${_id}_next`, 'quick'));
    const steps = [...fanOf([code('s0', 'quick'), ...losers], { join: 'any' }), ...following];
    const { outcome, runs, handle } = await run({ ...fan, steps });
    expect(outcome).toMatchObject({ output: { s0: 1 } });
    expect(runs('fan/s8/s8')).toBeUndefined();
    for (const { _id } of losers) expect(runs(`fan/${_id}/${_id}_next`)).toBeUndefined();
    const { steps: records, paths, runs_light_steps } = await handle.query(stateQuery);
    expect(statusOf(records, 's0')).toBe('completed');
    expect(statusOf(records, 's8')).toBe('cancelled');
    expect(records.filter(({ status }) => status === 'running')).toEqual([]);
    expect(records.filter(({ ended_at }) => ended_at === null)).toEqual([]);
    expect([Object.keys(paths), runs_light_steps]).toEqual([[''], undefined]);
  });

  test('end when the run is cancelled meanwhile: those that the batch has left do not begin', async () => {
    verifies('execution.light-steps.batches');
    const branches = branchesOf(...times(16, 'brief'));
    const meanwhile = async ({ handle, runs }: Awaited<ReturnType<typeof start>>) => {
      await eventually(() => expect(runs('fan/s0/s0')).toBe(1));
      await handle.executeUpdate(pauseUpdate, { args: [{}] });
      await handle.cancel();
    };
    // Without `yields_locally`, a new workflow task begins after half a second of light steps.
    const { yields_locally: _local, ...change } = fan;
    const { outcome, runs, handle } = await run({ ...change, steps: fanOf(branches) }, meanwhile);
    expect(outcome).toBeInstanceOf(CancelledFailure);
    expect(runs('fan/s15/s15')).toBeUndefined();
    const { steps: records } = await handle.query(stateQuery);
    expect(statusOf(records, 's0')).toBe('completed');
    expect(statusOf(records, 's15')).toBe('cancelled');
    expect(records.filter(({ ended_at }) => ended_at === null)).toEqual([]);
  });

  test.each([
    ['results', 3, 'fan', fanOf(branchesOf(...times(4, 'large')))],
    [
      ...(['requests', 4, 'big'] as const),
      [
        code('big', 'large', 'fan'),
        ...fanOf(branchesOf(...times(4, 'quick')).map((step) => ({ ...step, inputs: { big: 'outputs.big' } }))),
      ],
    ],
  ])('are divided among batches if their %s are long', async (_what, least, first_agent_id, steps) => {
    verifies('execution.light-steps.batches');
    await eventually(async () => {
      const { regular, local, outcome } = await run({ ...plan, first_agent_id, steps });
      expect(outcome).toHaveProperty('output.s3');
      expect(regular).not.toContain('runCode');
      expect(local).toBeGreaterThanOrEqual(least);
    });
  });
});
