import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { newId } from '../../src/base/ids.js';
import { workflowBundle } from '../../src/workflow-code.js';
import type { AgentflowExecutionActivities } from '../../workflows/agentflow-execution/activities.js';
import type { FlowStep } from '../../workflows/agentflow-execution/flow/flow-steps.js';
import {
  agentflowExecutionType,
  executionWorkflowId,
  type AgentflowExecutionInput,
} from '../../workflows/agentflow-execution/messages.js';
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

const activities: Partial<AgentflowExecutionActivities> = {
  publishExecution: async () => undefined,
  runCode: async ({ idempotency_key, source }) => {
    const attempt = (attempts.get(idempotency_key) ?? 0) + 1;
    attempts.set(idempotency_key, attempt);
    return { value: await works[source]?.(attempt), attempts: 1 };
  },
  takeModelTurn: async () => ({ value: modelTurn('Done.'), attempts: 1 }),
};

useWorkflowWorkers(deps, taskQueue, activities);

const code = (_id: string, source: string, next: string | null = null): FlowStep => ({
  ...{ _id, type: 'code', title: '', language: 'javascript' },
  ...{ source, inputs: {}, timeout_seconds: 10, next },
});

async function run(change: Partial<AgentflowExecutionInput>) {
  const execution_id = newId();
  const plan = executionPlan([], { execution_id, light_steps: { models: ['offline'] }, ...change });
  const workflowId = executionWorkflowId(execution_id);
  const { workflow } = deps.temporal.client;
  const handle = await workflow.start(agentflowExecutionType, { taskQueue, workflowId, args: [plan] });
  const outcome = await handle.result().catch((error: unknown) => (error as { cause?: unknown }).cause);
  const history = await handle.fetchHistory();
  const regular = (history.events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
  const tasks = (history.events ?? []).filter(({ workflowTaskCompletedEventAttributes: each }) => each).length;
  const runs = (step: string) => attempts.get(`${execution_id}/${step}`);
  return { workflowId, history, outcome, regular, tasks, runs };
}

describe('light steps', () => {
  test('run within one workflow task, and models that write by rules as well', async () => {
    verifies('execution.light-steps');
    const agents = [{ ...agentPlan('a', 's'), llm: { model: 'offline', temperature: null, max_tokens: null } }];
    const steps = [code('s', 'quick', 't'), code('t', 'quick')];
    // On a machine that stands still for a second, a step is not light.
    await eventually(async () => {
      const { regular, tasks, runs } = await run({ agents, first_agent_id: 'a', steps });
      expect({ regular, tasks }).toEqual({ regular: [], tasks: 1 });
      expect([runs('s'), runs('t')]).toEqual([1, 1]);
    });
  });

  test('are regular activities for other models, and in runs that began before', async () => {
    const agents = [{ ...agentPlan('a', null), llm: { model: 'big', temperature: null, max_tokens: null } }];
    expect((await run({ agents, first_agent_id: 'a' })).regular).toContain('takeModelTurn');
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
    const { outcome, regular, runs } = await run({ first_agent_id: 's', steps: [code('s', source)] });
    expect(outcome).toMatchObject({ conclusion: '1' });
    expect(regular).toContain('runCode');
    expect(runs('s')).toBe(2);
  });

  test('with long results are spread over workflow tasks, whose size Temporal limits', async () => {
    const ids = Array.from({ length: 9 }, (_, at) => `s${at}`);
    const steps = ids.map((id, at) => code(id, 'large', ids[at + 1] ?? null));
    await eventually(async () => {
      const { regular, tasks } = await run({ first_agent_id: 's0', steps });
      expect(regular).not.toContain('runCode');
      expect(tasks).toBeGreaterThan(1);
    });
  });

  test('fail at once for a reason that stays, with this reason', async () => {
    const { outcome, runs } = await run({ first_agent_id: 's', steps: [code('s', 'final')] });
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
    const { workflowId, history, outcome, regular } = await run({ first_agent_id: 'each', steps });
    expect(outcome).toMatchObject({ output: [1, 1, 1, 1, 1, 1] });
    expect(regular.filter((name) => name === 'runCode').length).toBeGreaterThanOrEqual(5);
    const dataConverter = deps.temporal.workerDataConverter;
    const sinks = { tracing: { runEnded: { fn: () => undefined } } };
    await Worker.runReplayHistory({ workflowBundle, dataConverter, sinks }, history, workflowId);
  });
});
