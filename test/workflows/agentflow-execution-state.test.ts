import { describe, expect, test } from '@jest/globals';
import type {
  AgentflowExecutionInput,
  AgentPlan,
  ExecutionState,
} from '../../workflows/agentflow-execution/messages.js';
import { actionPlan as action, agentPlan as agent, executionPlan, skillPlan as skill } from '../support/plans.js';
import { nextStep } from '../../workflows/agentflow-execution/next-step.js';
import { mainPathOf } from '../../workflows/agentflow-execution/paths.js';
import { beginStep, endStep } from '../../workflows/agentflow-execution/step-records.js';
import {
  addEvent,
  applyMove,
  conclude,
  fail,
  initialState,
  isOver,
  keepTurn,
  refusalOf,
} from '../../workflows/agentflow-execution/state.js';
import { stepActivities, stepIdOf } from '../../workflows/agentflow-execution/steps/index.js';
import { queueOfActivity } from '../../workflows/queues/queues.js';

const plan = (agents: AgentPlan[], files: AgentflowExecutionInput['files'] = []) => executionPlan(agents, { files });

/** Walks a plan to its end like the workflow; returns the ids of its steps. */
function walk(input: AgentflowExecutionInput): { ids: string[]; state: ExecutionState } {
  const state = initialState(1, input);
  const main = mainPathOf(state);
  const ids: string[] = [];
  for (let step = nextStep(input, state, main); step && ids.length < 50; step = nextStep(input, state, main)) {
    if (step.kind !== 'documents' && step.kind !== 'action' && step.kind !== 'model')
      throw new Error(`unexpected: ${step.kind}`);
    const record = beginStep(state, main, step, 2);
    ids.push(record.step_id);
    endStep(state, record, { status: 'completed', attempts: 1, at: 3 });
    if (step.kind === 'documents') state.documents = [];
    else if (step.kind === 'action')
      main.current?.results.push({
        action_id: step.action._id,
        skill_id: step.skill._id,
        name: step.action.name,
        output: 1,
      });
    else
      keepTurn(
        state,
        main,
        step.agent,
        { model: 'm', content: 'o', tool_calls: [], usage: { input_tokens: 0, output_tokens: 0 } },
        4,
      );
  }
  return { ids, state };
}

describe('nextStep', () => {
  test('reads the documents first, once', () => {
    expect(walk(plan([agent('a', null)], [{ name: 'n', mime_type: 'text/plain', location: 'l' }])).ids).toEqual([
      'documents',
      'a/model',
    ]);
  });

  test('visits skills in order, their actions along next_action_id, then the model, then next_agent', () => {
    const first = agent(
      'a',
      'b',
      skill('s', '2', action('1', null), action('2', '3'), action('3', null)),
      skill('t', '1', action('1', null)),
    );
    expect(walk(plan([agent('b', null), first, agent('c', null)].sort((x) => (x._id === 'a' ? -1 : 0)))).ids).toEqual([
      'a/s/2',
      'a/s/3',
      'a/t/1',
      'a/model',
      'b/model',
    ]);
  });

  test('ends a skill at a terminal action, and runs no actions without an initial one', () => {
    const early = { ...action('1', '2'), is_terminal: true };
    expect(
      walk(plan([agent('a', null, skill('s', '1', early, action('2', null)), skill('t', null, action('3', null)))]))
        .ids,
    ).toEqual(['a/s/1', 'a/model']);
  });

  test('depends only on plan and state, which survive JSON', () => {
    const input = plan([agent('a', null, skill('s', '1', action('1', '2'), action('2', null)))]);
    const state = initialState(1, { first_agent_id: 'a' });
    const main = mainPathOf(state);
    const step = nextStep(input, state, main);
    if (step?.kind !== 'action') throw new Error('an action was expected');
    expect(stepIdOf(step, state, main)).toBe('a/s/1');
    beginStep(state, main, step, 1);
    main.current?.results.push({ action_id: '1', skill_id: 's', name: '', output: null });
    const copy = JSON.parse(JSON.stringify(state)) as ExecutionState;
    expect(copy).toEqual(state);
    expect(nextStep(input, copy, mainPathOf(copy))).toEqual(nextStep(input, state, main));
  });

  test('throws for an unknown agent', () => {
    const state = initialState(1, { first_agent_id: 'z' });
    expect(() => nextStep(plan([agent('a', null)]), state, mainPathOf(state))).toThrow('no agent z');
  });
});

describe('the activities of all kinds of steps', () => {
  test('run on the queue of the workflows, and the projection on the control queue', () => {
    expect(stepActivities).toContain('callAction');
    for (const name of stepActivities) expect(queueOfActivity('base', name)).toBe('base');
    expect(queueOfActivity('base', 'publishExecution')).toBe('base-control');
  });
});

describe('transitions', () => {
  test.each([
    ['pause', ['running']],
    ['resume', ['paused']],
    ['cancel', ['ready', 'running', 'paused']],
  ] as const)('%s is allowed only from %j', (move, from) => {
    for (const status of ['ready', 'running', 'paused', 'completed', 'failed'] as const) {
      const refusal = refusalOf(move, status);
      if ((from as readonly string[]).includes(status)) expect(refusal).toBeUndefined();
      else expect(refusal).toContain(`is ${status}`);
    }
  });

  test('accept any operator input as text, truncated to a length', () => {
    const state: ExecutionState = { ...initialState(1, { first_agent_id: '' }), status: 'running' };
    applyMove(state, 'pause', { by: 'x'.repeat(1000), reason: 7 as never }, 2);
    expect(state).toMatchObject({ status: 'paused', pause: { by: 'x'.repeat(500), at: 2 } });
    applyMove(state, 'resume', undefined, 3);
    expect(state).toMatchObject({ status: 'running', pause: null });
    applyMove(state, 'cancel', null as never, 4);
    expect(state).toMatchObject({
      status: 'failed',
      end_time: 4,
      failure: { reason: 'cancelled', by: 'operator', message: 'cancelled on request' },
    });
    expect(isOver(state)).toBe(true);
    expect(state.unpublished.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'paused'],
      [2, 'resumed'],
      [3, 'failed'],
    ]);
  });
});

describe('the end', () => {
  test('concludes with the last output and its links, each once and without trailing punctuation', () => {
    const { state } = walk(plan([agent('a', 'b'), agent('b', null)]));
    const last = state.agents_output.at(-1);
    if (last) last.output = 'See https://a.example/x?y=1. And [b](https://b.example/), https://a.example/x?y=1!';
    conclude(state, 9);
    expect(state).toMatchObject({
      status: 'completed',
      end_time: 9,
      conclusion: { links: ['https://a.example/x?y=1', 'https://b.example/'], created_at: 9 },
    });
  });

  test('extracts the links of a long answer quickly, because a workflow task has a time limit', () => {
    const { state } = walk(plan([agent('a', null)]));
    const last = state.agents_output.at(-1);
    const link = `https://a.example/${'.'.repeat(100_000)}x`;
    if (last) last.output = `${link}...`;
    const begun = process.cpuUsage();
    conclude(state, 9);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(1000);
    expect(state.conclusion?.links).toEqual([link]);
  });

  test('clears the pause on a failure', () => {
    const state: ExecutionState = {
      ...initialState(1, { first_agent_id: '' }),
      status: 'paused',
      pause: { by: 'x', at: 1 },
    };
    fail(state, { reason: 'step_failed', code: 'c', message: 'm', by: null, at: 5, step_id: null });
    expect(state).toMatchObject({ status: 'failed', pause: null, end_time: 5 });
  });

  test('numbers events without a gap', () => {
    const state = initialState(1, { first_agent_id: '' });
    for (let at = 0; at < 5; at += 1) addEvent(state, 'step_continued', at, { step_id: 'x' });
    expect(state.unpublished.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(state.last_event_seq).toBe(5);
  });
});
