import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../src/base/ids.js';
import type {
  AgentflowExecutionActivities,
  ExecutionProjection,
} from '../../workflows/agentflow-execution/activities.js';
import {
  agentflowExecutionType,
  cancelUpdate,
  executionWorkflowId,
  maxKeptCharacters,
  stateQuery,
  type AgentPlan,
  type ExecutionConclusion,
} from '../../workflows/agentflow-execution/messages.js';
import type { ModelTurn } from '../../workflows/agentflow-execution/model-turn.js';
import { decidePreviewUpdate } from '../../workflows/agentflow-execution/preview-messages.js';
import type { CallActionRequest } from '../../workflows/agentflow-execution/steps/action.js';
import type { ModelTurnRequest } from '../../workflows/agentflow-execution/steps/model.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { actionPlan, agentPlan, executionPlan, modelTurn, skillPlan } from '../support/plans.js';
import { verifies } from '../support/verifies.js';
import { useWorkflowWorkers } from '../support/workflow-workers.js';

const taskQueue = `tools-${newId()}`;
const deps = useDeps({ TEMPORAL_TASK_QUEUE: taskQueue });

/** The simulated environment of one execution. */
interface World {
  turns: ModelTurnRequest[];
  calls: CallActionRequest[];
  published: ExecutionProjection[];
  model(turn: number): ModelTurn;
  act(call: CallActionRequest): unknown;
}
const worlds = new Map<string, World>();

const activities: Partial<AgentflowExecutionActivities> = {
  publishExecution: async (projection) => void worlds.get(projection.execution_id)?.published.push(projection),
  async callAction(request) {
    const world = worlds.get(request.idempotency_key.split('/')[0] ?? '');
    world?.calls.push(request);
    return { value: await world?.act(request), attempts: 1 };
  },
  async takeModelTurn(request) {
    const world = worlds.get(request.execution_id);
    world?.turns.push(request);
    return { value: world?.model(world.turns.length) ?? modelTurn('nobody is here'), attempts: 1 };
  },
  composePreview: async () => ({ value: [], attempts: 1 }),
};

useWorkflowWorkers(deps, taskQueue, activities);

const to = { field_id: 'to', label: '', type: 'string', required: true, description: 'Whom' };
const send = actionPlan('send', null, {
  name: 'Send mail',
  description: 'Sends one mail',
  input_schema: { fields: [to] },
});
const find = actionPlan('find', null, { name: 'Find person' });
const agent = agentPlan('a', null, skillPlan('mail', null, send), skillPlan('people', 'find', find));

async function start(plan: AgentPlan, behaviour: Pick<World, 'model'> & Partial<World>, change = {}) {
  const execution_id = newId();
  const world: World = { turns: [], calls: [], published: [], act: () => ({ ok: true }), ...behaviour };
  worlds.set(execution_id, world);
  const handle = await deps.temporal.client.workflow.start(agentflowExecutionType, {
    taskQueue,
    workflowId: executionWorkflowId(execution_id),
    args: [executionPlan([plan], { execution_id, ...change })],
  });
  const result = () => handle.result() as Promise<ExecutionConclusion>;
  return { world, handle, execution_id, result };
}

describe('the model turns of an agent', () => {
  test('offer its actions as tools, run the called ones, and return the results', async () => {
    verifies('agent.tools');
    const said = [
      modelTurn([
        ['Send_mail', '{"to":"ada"}'],
        ['Find_person', '{}'],
      ]),
      modelTurn([['Send_mail', '{"to":"bob"}']]),
      modelTurn('Both have it.'),
    ];
    const { world, execution_id, result, handle } = await start(agent, {
      model: (turn) => said[turn - 1] ?? modelTurn('?'),
      act: ({ action, input }) => ({ did: action._id, to: input?.arguments?.to ?? null }),
    });
    expect(await result()).toMatchObject({ conclusion: 'Both have it.' });
    expect(world.turns[0]).toMatchObject({
      conversation: [],
      tools: [
        { name: 'Send_mail', description: expect.stringContaining('Sends one mail'), fields: [to] },
        { name: 'Find_person' },
      ],
    });
    expect(
      world.calls.map(({ idempotency_key, action, input }) => [
        idempotency_key.replace(execution_id, ''),
        action._id,
        input?.arguments,
      ]),
    ).toEqual([
      ['/a/people/find', 'find', undefined],
      ['/a/turn-1/0', 'send', { to: 'ada' }],
      ['/a/turn-1/1', 'find', {}],
      ['/a/turn-2/0', 'send', { to: 'bob' }],
    ]);
    expect(world.turns[2]?.conversation).toEqual([
      {
        role: 'assistant',
        content: '',
        tool_calls: [expect.objectContaining({ name: 'Send_mail' }), expect.objectContaining({ name: 'Find_person' })],
      },
      { role: 'tool', tool_call_id: 'id_0', content: '{"did":"send","to":"ada"}' },
      { role: 'tool', tool_call_id: 'id_1', content: '{"did":"find","to":null}' },
      { role: 'assistant', content: '', tool_calls: [expect.objectContaining({ name: 'Send_mail' })] },
      { role: 'tool', tool_call_id: 'id_0', content: '{"did":"send","to":"bob"}' },
    ]);
    const state = await handle.query(stateQuery);
    expect(state.steps.map(({ step_id }) => step_id)).toEqual([
      'a/people/find',
      'a/model',
      'a/turn-1/0',
      'a/turn-1/1',
      'a/model-2',
      'a/turn-2/0',
      'a/model-3',
    ]);
    expect(state.agents_output).toMatchObject([
      { output: 'Both have it.', usage: { input_tokens: 30, output_tokens: 30 }, actions: [{}, {}, {}, {}] },
    ]);
    const { events = [] } = await handle.fetchHistory();
    const names = events?.flatMap((event) =>
      event.activityTaskScheduledEventAttributes?.activityType?.name === 'callAction'
        ? [event.activityTaskScheduledEventAttributes.activityId]
        : [],
    );
    expect(names).toHaveLength(4);
  });

  test('report a call that cannot be executed and an action that is refused, and continue', async () => {
    verifies('agent.tools');
    const said = [
      modelTurn([
        ['Send_mail', 'nonsense'],
        ['Send_post', '{}'],
        ['Send_mail', '{"to":7}'],
        ['Find_person', '{}'],
      ]),
      modelTurn('I gave up.'),
    ];
    const { world, result, handle } = await start(
      { ...agent, skills: agent.skills.map((skill) => ({ ...skill, initial_action_id: null })) },
      {
        model: (turn) => said[turn - 1] ?? modelTurn('?'),
        act({ action }) {
          const [type, message] =
            action._id === 'send'
              ? ['validation_failed', 'the field "to" must be of type string']
              : ['action_refused', 'answered with 403'];
          throw ApplicationFailure.create({ type, message, nonRetryable: true, details: [{ attempt: 1 }] });
        },
      },
    );
    expect(await result()).toMatchObject({ conclusion: 'I gave up.' });
    expect(world.calls).toHaveLength(2);
    const told = world.turns[1]?.conversation.flatMap((message) =>
      message.role === 'tool' ? [`${message.tool_call_id} ${message.content}`] : [],
    );
    expect(told?.sort()).toEqual([
      expect.stringMatching(/id_0 .*not a JSON object/),
      expect.stringMatching(/id_1 .*Send_post.*does not exist/),
      expect.stringMatching(/id_2 .*validation_failed.*must be of type string/),
      expect.stringMatching(/id_3 .*action_refused.*403/),
    ]);
    const state = await handle.query(stateQuery);
    expect(state.steps.map(({ status }) => status)).toEqual(['completed', 'failed', 'failed', 'completed']);
    const types = world.published.flatMap(({ events }) => events.map(({ type }) => type));
    expect(types.filter((type) => type === 'tool_call_refused')).toHaveLength(2);
  });

  test('end a cancelled tool call with the run', async () => {
    let release = () => undefined as void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { world, handle } = await start(agent, {
      model: () => modelTurn([['Send_mail', '{"to":"x"}']]),
      act: ({ action }) => (action._id === 'find' ? {} : gate),
    });
    await eventually(() => expect(world.calls).toHaveLength(2));
    expect(await handle.executeUpdate(cancelUpdate, { args: [{ by: 'me' }] })).toMatchObject({ status: 'failed' });
    await eventually(async () =>
      expect((await handle.query(stateQuery)).failure).toMatchObject({ reason: 'cancelled' }),
    );
    await handle.terminate();
    release();
  });

  test('keep the conversation across continue-as-new', async () => {
    verifies('agent.tools');
    const { world, result, handle } = await start(
      agent,
      { model: (turn) => (turn < 8 ? modelTurn([['Send_mail', `{"to":"${turn}"}`]]) : modelTurn('Done.')) },
      { max_history_events: 30 },
    );
    const first = handle.firstExecutionRunId;
    expect(await result()).toMatchObject({ conclusion: 'Done.' });
    expect((await deps.temporal.client.workflow.getHandle(handle.workflowId).describe()).runId).not.toBe(first);
    expect(world.calls.flatMap(({ input }) => input?.arguments?.to ?? [])).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    expect(world.turns.at(-1)?.conversation).toHaveLength(14);
  });
});

describe('a waiting preview', () => {
  test('survives continue-as-new with its time limit, and can be decided afterwards', async () => {
    verifies('agent.preview.waits');
    const { world, result, handle } = await start(
      { ...agent, is_preview_mode_enabled: true },
      { model: () => modelTurn('Done.') },
      { max_history_events: 30 },
    );
    const before = await eventually(async () => {
      const { previews } = await handle.query(stateQuery);
      expect(previews.a).toMatchObject({ status: 'waiting' });
      return previews.a;
    });
    const latest = deps.temporal.client.workflow.getHandle(handle.workflowId);
    const { runId } = await handle.describe();
    await eventually(async () => {
      // A run that is not paused ignores them, but each one is an event of its history.
      await latest.signal('resume').catch(() => undefined);
      expect((await latest.describe()).runId).not.toBe(runId);
    });
    expect((await latest.query(stateQuery)).previews.a).toEqual(before);
    expect(world.calls).toEqual([]);
    expect(
      await latest.executeUpdate(decidePreviewUpdate, {
        args: [{ agent_id: 'a', preview_id: before?.preview_id ?? '', decision: 'approve', by: 'me' }],
      }),
    ).toMatchObject({ status: 'running' });
    expect(await result()).toMatchObject({ conclusion: 'Done.' });
    expect(world.calls).toHaveLength(1);
  });
});

describe('the tokens of a turn', () => {
  test('are charged even if its answer does not fit into the run', async () => {
    verifies('execution.tokens-charged');
    const { world, result } = await start(agentPlan('a', null), {
      model: () => modelTurn('x'.repeat(maxKeptCharacters + 1), 70),
    });
    await expect(result()).rejects.toMatchObject({ cause: { type: 'validation_failed' } });
    const spent = world.published.flatMap((projection) => projection.spent);
    expect(spent).toEqual([{ key: 'a/model', model: 'm', input_tokens: 70, output_tokens: 70 }]);
  });
});

describe('an agent that keeps calling tools', () => {
  const failed = (result: () => Promise<unknown>) =>
    result().then(
      () => undefined,
      (error: { cause?: unknown }) => error.cause,
    );

  test('is stopped at its limit of turns', async () => {
    verifies('agent.limits');
    const { world, result } = await start(
      { ...agent, max_turns: 3 },
      { model: () => modelTurn([['Send_mail', '{"to":"x"}']]) },
    );
    expect(await failed(result)).toMatchObject({
      type: 'limit_exceeded',
      message: expect.stringContaining('max_turns is 3'),
    });
    expect(world.turns).toHaveLength(3);
    expect(world.calls).toHaveLength(3);
    expect(world.published.at(-1)).toMatchObject({
      status: 'failed',
      failure: { reason: 'limit_exceeded', code: 'limit_exceeded' },
    });
  });

  test('is stopped at its limit of spending', async () => {
    verifies('agent.limits', 'agent.accounting');
    const { world, result } = await start(
      { ...agent, max_total_tokens: 500 },
      { model: () => modelTurn([['Send_mail', '{"to":"x"}']], 100) },
    );
    expect(await failed(result)).toMatchObject({
      type: 'limit_exceeded',
      message: expect.stringContaining('max_total_tokens is 500'),
    });
    expect(world.turns).toHaveLength(3);
    const told = world.published.flatMap(({ spent = [] }) => spent);
    expect(told).toMatchObject([
      {
        key: expect.stringMatching(/^a\/unfinished-/),
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
      },
    ]);
    expect((told[0]?.input_tokens ?? 0) + (told[0]?.output_tokens ?? 0)).toBeGreaterThanOrEqual(500);
  });
});
