import { describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import type {
  AgentflowExecutionActivities,
  ExecutionProjection,
} from '../../workflows/agentflow-execution/activities.js';
import {
  agentflowExecutionType,
  executionWorkflowId,
  pauseUpdate,
  resumeUpdate,
  type AgentPlan,
} from '../../workflows/agentflow-execution/messages.js';
import { decidePreviewUpdate } from '../../workflows/agentflow-execution/preview-messages.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { agentPlan, executionPlan, modelTurn } from '../support/plans.js';
import { verifies } from '../support/verifies.js';
import { useWorkflowWorkers } from '../support/workflow-workers.js';

const taskQueue = `projection-${newId()}`;
const deps = useDeps({ TEMPORAL_TASK_QUEUE: taskQueue });

interface World {
  written: ExecutionProjection[];
  /** The number of next writes that fail. */
  failures: number;
  turn: (number: number) => Promise<void>;
  turns: number;
}
const worlds = new Map<string, World>();

const activities: Partial<AgentflowExecutionActivities> = {
  publishExecution: async (projection) => {
    const world = worlds.get(projection.execution_id);
    if (!world) return;
    if (world.failures > 0) {
      world.failures -= 1;
      throw new Error('the record store does not answer');
    }
    world.written.push(projection);
  },
  takeModelTurn: async ({ execution_id }) => {
    const world = worlds.get(execution_id);
    if (world) await world.turn((world.turns += 1));
    return { value: modelTurn('Done.'), attempts: 1 };
  },
};

useWorkflowWorkers(deps, taskQueue, activities);

async function start(agents: AgentPlan[], behaviour: Partial<World> = {}) {
  const execution_id = newId();
  const world: World = { written: [], failures: 0, turns: 0, turn: () => Promise.resolve(), ...behaviour };
  worlds.set(execution_id, world);
  const handle = await deps.temporal.client.workflow.start(agentflowExecutionType, {
    taskQueue,
    workflowId: executionWorkflowId(execution_id),
    args: [executionPlan(agents, { execution_id })],
  });
  /** The regular activities of the run. */
  const scheduled = async () =>
    ((await handle.fetchHistory()).events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name ?? [],
    );
  return { world, handle, scheduled };
}

/** Holds the model turn with this number until `release`. */
function holding(held: number): { turn: World['turn']; release: () => void } {
  let release = () => undefined as void;
  const gate = new Promise<void>((resolve) => (release = resolve));
  return { turn: (number) => (number === held ? gate : Promise.resolve()), release: () => release() };
}

const chain = (count: number) =>
  Array.from({ length: count }, (_, at) => agentPlan(`a${at}`, at + 1 < count ? `a${at + 1}` : null));

describe('the record of a run', () => {
  test('is written at most once a second and at the end', async () => {
    verifies('execution.projection');
    const { world, handle } = await start(chain(12));
    await handle.result();
    const { written } = world;
    expect(written.at(-1)).toMatchObject({ status: 'completed', events: expect.any(Array) });
    const times = written.slice(0, -1).map(({ projected_at }) => projected_at);
    times.forEach((time, at) => at > 0 && expect(time - (times[at - 1] ?? 0)).toBeGreaterThan(0.99));
    expect(written.flatMap(({ agents_output }) => agents_output.map(({ index }) => index))).toEqual(
      chain(12).map((_, at) => at),
    );
    const sequence = written.flatMap(({ events }) => events.map(({ seq }) => seq));
    expect(sequence).toEqual(sequence.map((_, at) => at + 1));
  });

  test('shows a long step while it runs', async () => {
    const { turn, release } = holding(2);
    const { world, handle } = await start(chain(2), { turn });
    await eventually(() =>
      expect(world.written.at(-1)).toMatchObject({ status: 'running', steps: [{}, { value: { status: 'running' } }] }),
    );
    release();
    await handle.result();
    expect(world.written.at(-1)).toMatchObject({ status: 'completed' });
  });

  test('shows the action of a person at once, also while a step runs', async () => {
    verifies('execution.projection');
    const { turn, release } = holding(1);
    const { world, handle } = await start(chain(2), { turn });
    for (const [update, status] of [
      [pauseUpdate, 'paused'],
      [resumeUpdate, 'running'],
      [pauseUpdate, 'paused'],
      [resumeUpdate, 'running'],
    ] as const) {
      await handle.executeUpdate(update, { args: [{ by: 'me' }] });
      await eventually(() => expect(world.written.at(-1)).toMatchObject({ status }));
    }
    release();
    await handle.result();
  });

  test('has a move that the API records only seconds later, and without the API as well', async () => {
    verifies('execution.projection');
    const { turn, release } = holding(1);
    const { world, handle } = await start(chain(2), { turn });
    await eventually(() => expect(world.written).toHaveLength(1));
    const request = { by: 'me', is_recorded_by_caller: true } as const;
    await eventually(async () => {
      const events = (await handle.fetchHistory()).events ?? [];
      // The run knows that its first write has ended. Its model turn is held.
      expect(events.some(({ activityTaskCompletedEventAttributes: completed }) => completed)).toBe(true);
    });
    const paused = await handle.executeUpdate(pauseUpdate, { args: [request] });
    const resumed = await handle.executeUpdate(resumeUpdate, { args: [request] });
    expect(resumed.seq).toBe((paused.seq ?? Number.NaN) + 1);
    await handle.executeUpdate(pauseUpdate, { args: [request] });
    await eventually(() => expect(world.written.at(-1)).toMatchObject({ status: 'paused' }));
    const { events } = await handle.fetchHistory();
    const timers = events?.flatMap(({ timerStartedEventAttributes: each }) => each?.startToFireTimeout?.seconds ?? []);
    expect(timers?.slice(0, 2).map(Number)).toEqual([1, 10]);
    await handle.executeUpdate(resumeUpdate, { args: [request] });
    release();
    await handle.result();
    expect(world.written.at(-1)).toMatchObject({ status: 'completed' });
  });

  test('shows a preview when the run begins to wait for it, and the decision before it is answered', async () => {
    const [agent] = chain(1);
    const { world, handle } = await start([{ ...(agent as AgentPlan), is_preview_mode_enabled: true }]);
    const waiting = await eventually(() => {
      const last = world.written.at(-1);
      expect(last?.previews.a0).toMatchObject({ status: 'waiting' });
      return last;
    });
    const decision = { agent_id: 'a0', preview_id: waiting?.previews.a0?.preview_id ?? '', by: 'me' };
    await handle.executeUpdate(decidePreviewUpdate, { args: [{ ...decision, decision: 'approve' }] });
    expect(world.written.some(({ previews }) => previews.a0?.status === 'approved')).toBe(true);
    await handle.result();
  });

  test('is written by a regular activity, with unlimited retries, while the record store is down', async () => {
    verifies('execution.projection');
    const { world, handle, scheduled } = await start(chain(2), { failures: 6 });
    await handle.result();
    expect(world.failures).toBe(0);
    expect((await scheduled()).filter((name) => name === 'publishExecution')).toEqual(['publishExecution']);
    const sequence = world.written.flatMap(({ events }) => events.map(({ seq }) => seq));
    expect(sequence).toEqual(sequence.map((_, at) => at + 1));
  });

  test('has a later time in each write', async () => {
    const { turn, release } = holding(1);
    const { world, handle } = await start(chain(1), { turn });
    for (let round = 0; round < 3; round += 1) {
      await handle.executeUpdate(pauseUpdate, { args: [{}] });
      await handle.executeUpdate(resumeUpdate, { args: [{}] });
    }
    release();
    await handle.result();
    const times = world.written.map(({ projected_at }) => projected_at);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
  });
});
