import { describe, expect, test } from '@jest/globals';
import type { ExecutionState } from '../../workflows/agentflow-execution/messages.js';
import { limitProblem, nextStep } from '../../workflows/agentflow-execution/next-step.js';
import { mainPathOf } from '../../workflows/agentflow-execution/paths.js';
import {
  applyDecision,
  decisionRefusal,
  editsOf,
  requestPreview,
} from '../../workflows/agentflow-execution/previews.js';
import { beginStep } from '../../workflows/agentflow-execution/step-records.js';
import { applyMove, fail, failOver, initialState, keepTurn } from '../../workflows/agentflow-execution/state.js';
import { stepIdOf } from '../../workflows/agentflow-execution/steps/index.js';
import { answerCall, pendingCalls, toolsOf } from '../../workflows/agentflow-execution/tools.js';
import { viewOf } from '../../workflows/agentflow-execution/view.js';
import { actionPlan, agentPlan, executionPlan, modelTurn, skillPlan } from '../support/plans.js';

const field = { field_id: 'to', label: '', type: 'string', required: true, description: '' };
const send = actionPlan('send', null, { name: 'Send it!', input_schema: { fields: [field] } });
const worker = agentPlan('a', null, skillPlan('s', null, send));
const previewed = { ...worker, is_preview_mode_enabled: true, preview_timeout_seconds: 60 };
const failure = { reason: 'step_failed', code: 'c', message: 'm', by: null, at: 5, step_id: null } as const;

/** The state of a run that begins its first turn. */
function atWork(agent = worker): ExecutionState {
  const state: ExecutionState = { ...initialState(1, { first_agent_id: 'a' }), status: 'running' };
  beginStep(state, mainPathOf(state), { kind: 'model', agent, turn: 1 }, 1);
  return state;
}

describe('the tools of a turn', () => {
  test('have unique names in the alphabet of function names, at most 64 characters long', () => {
    const names = ['Send it!', 'Send it?', 'send_it', '', '…', 'x'.repeat(80), 'x'.repeat(90)];
    const agent = agentPlan(
      'a',
      null,
      skillPlan('s', null, ...names.map((name, at) => actionPlan(String(at), null, { name }))),
    );
    const offered = toolsOf(agent).map(({ offer }) => offer.name);
    expect(new Set(offered).size).toBe(names.length);
    for (const name of offered) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(offered.slice(0, 3)).toEqual(['Send_it', 'Send_it_2', 'send_it']);
  });

  test('that cannot be called are answered immediately with the reason, the others wait to be run', () => {
    const state = atWork();
    keepTurn(
      state,
      mainPathOf(state),
      worker,
      modelTurn([
        ['Send_it', '{"to":"x"}'],
        ['Send_it', 'to x'],
        ['Send_it', '[1]'],
        ['other', '{}'],
        ['Send_it', ''],
      ]),
      2,
    );
    const at = mainPathOf(state).current;
    if (!at) throw new Error('nobody is at work');
    expect(at.conversation.slice(1)).toMatchObject([
      { tool_call_id: 'id_1', content: expect.stringContaining('not a JSON object') },
      { tool_call_id: 'id_2', content: expect.stringContaining('not a JSON object') },
      { tool_call_id: 'id_3', content: expect.stringContaining('available tools: Send_it') },
    ]);
    expect(pendingCalls(worker, at)).toMatchObject([
      { index: 0, arguments: { to: 'x' } },
      { index: 4, arguments: {} },
    ]);
    answerCall(at, 'id_0', { ok: true });
    const next = nextStep(executionPlan([worker]), state, mainPathOf(state));
    expect(next?.kind === 'tool' && stepIdOf(next, state, mainPathOf(state))).toBe('a/turn-1/4');
    answerCall(at, 'id_4', null);
    const turn = nextStep(executionPlan([worker]), state, mainPathOf(state));
    expect(turn?.kind === 'model' && stepIdOf(turn, state, mainPathOf(state))).toBe('a/model-2');
  });

  test('are kept apart if the model repeats an id, and only 32 of a turn are run', () => {
    const state = atWork();
    const turn = modelTurn(Array.from({ length: 40 }, () => ['Send_it', '{}']));
    keepTurn(
      state,
      mainPathOf(state),
      worker,
      { ...turn, tool_calls: turn.tool_calls.map((call) => ({ ...call, id: 'same' })) },
      2,
    );
    const { current } = mainPathOf(state);
    if (!current) throw new Error('nobody is at work');
    expect(pendingCalls(worker, current)).toHaveLength(32);
    expect(new Set(pendingCalls(worker, current).map(({ id }) => id)).size).toBe(32);
  });
});

describe('the limits of an agent', () => {
  const usage = (tokens: number) => ({ input_tokens: tokens, output_tokens: 0 });

  test('default to 12 turns and 500,000 tokens, and the message names the limit', () => {
    expect(limitProblem(worker, { turns: 11, usage: usage(499_999) })).toBeUndefined();
    expect(limitProblem(worker, { turns: 12, usage: usage(0) })).toContain('max_turns is 12');
    expect(limitProblem(worker, { turns: 1, usage: usage(500_000) })).toContain('max_total_tokens is 500000');
    expect(limitProblem({ ...worker, max_turns: 1 }, { turns: 1, usage: usage(0) })).toContain('max_turns is 1');
  });

  test('apply before tools run whose answers the model would not receive', () => {
    const agent = { ...worker, max_turns: 1 };
    const state = atWork(agent);
    keepTurn(state, mainPathOf(state), agent, modelTurn([['Send_it', '{}']]), 2);
    expect(nextStep(executionPlan([agent]), state, mainPathOf(state))).toMatchObject({
      kind: 'stop',
      code: 'limit_exceeded',
    });
  });
});

describe('a preview', () => {
  const plan = executionPlan([previewed]);

  const decided = { agent_id: 'a', preview_id: 'a/turn-1/preview', by: 'me' };
  function waiting(): ExecutionState {
    const state = atWork(previewed);
    keepTurn(state, mainPathOf(state), previewed, modelTurn([['Send_it', '{"to":"x"}']]), 2);
    const step = nextStep(plan, state, mainPathOf(state));
    if (step?.kind !== 'preview') throw new Error('a preview was expected');
    const proposed = [
      {
        action_id: 'send',
        skill_id: 's',
        call_id: 'id_0',
        name: 'Send it!',
        category: 'restful',
        method: 'POST',
        endpoint: '',
        input: { to: 'x' },
      },
    ];
    const previewId = stepIdOf(step, state, mainPathOf(state));
    requestPreview(state, mainPathOf(state), previewed, { previewId, proposed, at: 10 });
    return state;
  }

  test('is requested before the tools are run, waits, and then allows them', () => {
    const state = waiting();
    expect(nextStep(plan, state, mainPathOf(state))).toMatchObject({ kind: 'awaitDecision' });
    expect(viewOf(state)).toMatchObject({
      previews: { a: { status: 'waiting' } },
      context: { waiting_for: { kind: 'preview', agent_id: 'a', requested_at: 10, expires_at: 70 } },
    });
    applyDecision(state, { ...decided, decision: 'approve', edits: { send: { to: 'y' } } }, 11);
    expect(state.previews.a).toMatchObject({ status: 'edited', decided_by: 'me', decided_at: 11 });
    for (const callId of ['id_0', 'constructor', '__proto__'])
      expect(editsOf(state, mainPathOf(state), { agentId: 'a', actionId: 'send', callId })).toEqual({ to: 'y' });
    expect(viewOf(state).context).toEqual({ waiting_for: null });
    expect(nextStep(plan, state, mainPathOf(state))).toMatchObject({ kind: 'tool' });
  });

  test('refuses a decision that does not match', () => {
    const state = waiting();
    const refusal = (change: object) =>
      decisionRefusal(plan, state, { ...decided, decision: 'approve', ...change })?.type;
    expect(refusal({})).toBeUndefined();
    expect(refusal({ agent_id: 'z' })).toBe('not_found');
    expect(refusal({ edits: 'text' })).toBe('invalid_request');
    expect(refusal({ edits: { other: {} } })).toBe('invalid_request');
    expect(refusal({ edits: { send: 'x' } })).toBe('invalid_request');
    expect(refusal({ edits: { send: { cc: 'x' } } })).toBe('invalid_request');
    applyDecision(state, { ...decided, decision: 'reject', reason: 'no' }, 11);
    expect(state).toMatchObject({ status: 'failed', failure: { code: 'preview_rejected', message: 'no', by: 'me' } });
    expect(refusal({})).toBe('conflict');
  });

  test('has a clock that stops while the run is paused', () => {
    const state = waiting();
    applyMove(state, 'pause', { by: 'me' }, 20);
    applyMove(state, 'resume', { by: 'me' }, 1020);
    expect(state.previews.a?.expires_at).toBe(1070);
  });

  test('stops waiting when the run ends', () => {
    const state = waiting();
    fail(state, failure);
    expect(state.previews.a?.status).toBe('expired');
  });

  test('covers the output if an agent has no other effect, and survives JSON', () => {
    const quiet = { ...previewed, skills: [] };
    const ofOutput = { agent_id: 'a', preview_id: 'a/output/preview', by: 'me' };
    const quietPlan = executionPlan([quiet]);
    const state = atWork(quiet);
    keepTurn(state, mainPathOf(state), quiet, modelTurn('the word'), 2);
    const step = nextStep(quietPlan, state, mainPathOf(state));
    expect(step).toMatchObject({ kind: 'requestPreview', output: 'the word', previewId: 'a/output/preview' });
    const proposed = { output: 'the word' };
    requestPreview(state, mainPathOf(state), quiet, { previewId: 'a/output/preview', proposed, at: 3 });
    const copy = JSON.parse(JSON.stringify(state)) as ExecutionState;
    expect(copy).toEqual(state);
    expect(decisionRefusal(quietPlan, copy, { ...ofOutput, decision: 'approve', edits: { output: 1 } })?.type).toBe(
      'invalid_request',
    );
    applyDecision(copy, { ...ofOutput, decision: 'approve', edits: 'another' }, 4);
    expect(nextStep(quietPlan, copy, mainPathOf(copy))).toMatchObject({ kind: 'takeOutput' });
  });
});

describe('a failover', () => {
  const plan = executionPlan([agentPlan('a', 'b'), agentPlan('b', null)], {
    failover: { goal: { template: 'x' }, first_agent_id: 'a' },
  });

  test('renders its goal and starts again at the first agent with its own step ids', () => {
    const state: ExecutionState = { ...initialState(1, { first_agent_id: 'a' }), status: 'running' };
    beginStep(state, mainPathOf(state), { kind: 'model', agent: agentPlan('a', 'b'), turn: 1 }, 1);
    keepTurn(state, mainPathOf(state), agentPlan('a', 'b'), modelTurn('one'), 2);
    failOver(state, failure, { goal: { template: 'x' }, first_agent_id: 'a' });
    expect(nextStep(plan, state, mainPathOf(state))).toMatchObject({ kind: 'goal', template: 'x' });
    if (state.failover) state.failover.goal = 'rendered';
    const step = nextStep(plan, state, mainPathOf(state));
    expect(step?.kind === 'model' && [step.agent._id, stepIdOf(step, state, mainPathOf(state))]).toEqual([
      'a',
      'failover/a/model',
    ]);
    expect(state.agents_output).toHaveLength(1);
    expect(viewOf(state).context).toMatchObject({ failover: { from: failure, goal: 'rendered' } });
  });
});
