import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import {
  closedAs,
  moveExecution,
  prepareExecution,
  startExecution,
  untilExecution,
  untilListed,
} from '../../../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

const field = { field_id: 'subject', type: 'string', required: true };

/** Two agents; the first waits for a person before its two actions. */
function previewFlow({ projectID }: Workspace, change: object = {}, flowChange: object = {}) {
  const flow = flowThatCalls([`${sink.url}/${projectID}/one?g={{ goal }}`, `${sink.url}/${projectID}/two`], []);
  const [first, second] = flow.agents;
  const skills = first?.skills.map((skill) => ({
    ...skill,
    actions: skill.actions.map((action) => ({ ...action, input_schema: { fields: [field] } })),
  }));
  return { ...flow, ...flowChange, agents: [{ ...first, skills, is_preview_mode_enabled: true, ...change }, second] };
}

function calls({ projectID }: Workspace) {
  return sink.seen(`/${projectID}`);
}

const decide = async (workspace: Workspace, id: string, body: object, headers = {}) =>
  (await personOf(deps, workspace)).post(
    `/execute_flow/${id}/preview`,
    { preview_id: 'agent_1/preview', ...body },
    headers,
  );
const waiting = { status: 'running', execution_context: { waiting_for: { kind: 'preview', agent_id: 'agent_1' } } };
const run = { input_variables: { subject: 'Hello' } };

async function waitingExecution(change: object = {}, flowChange: object = {}) {
  const workspace = await createWorkspace(deps);
  const id = await startExecution(workspace, previewFlow(workspace, change, flowChange), run);
  const execution = await untilExecution(workspace, id, waiting);
  return { workspace, id, preview: execution.previews.agent_1 };
}

describe('an agent in preview mode', () => {
  test('waits before its actions, with the planned actions in the record and in the live view', async () => {
    verifies('agent.preview.waits');
    const { workspace, id, preview } = await waitingExecution();
    expect(preview).toMatchObject({
      status: 'waiting',
      agent_id: 'agent_1',
      title: 'Agent agent_1',
      kind: 'actions',
      edits: null,
      decided_by: null,
      decided_at: null,
    });
    expect(preview.expires_at - preview.requested_at).toBeCloseTo(7 * 24 * 3600);
    expect(preview.proposed).toMatchObject([
      {
        action_id: 'action_1',
        name: 'Call action_1',
        method: 'POST',
        endpoint: expect.stringContaining('/one?g=the%20sink'),
        input: { subject: 'Hello' },
      },
      { action_id: 'action_2', input: { subject: 'Hello' } },
    ]);
    await eventually(async () => {
      const record = await deps.mongo.collections.executions.findOne({ _id: id });
      expect(record).toMatchObject({ ...waiting, previews: { agent_1: { status: 'waiting', proposed: [{}, {}] } } });
    });
    expect(calls(workspace)).toEqual([]);
    const { body } = await workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(body.steps).toMatchObject([{ step_id: 'agent_1/preview', kind: 'preview', status: 'completed' }]);
    await moveExecution(workspace, id, 'cancel');
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended).toMatchObject({
      previews: { agent_1: { status: 'expired' } },
      execution_context: { waiting_for: null, failure: { code: 'cancelled' } },
    });
  });

  test('continues once after an approval, with the edits if there are any', async () => {
    verifies('agent.preview.decided', 'platform.executions.preview');
    const { workspace, id } = await waitingExecution();
    const edits = { action_2: { subject: 'Changed' } };
    const answers = await Promise.all(
      [1, 2, 3].map(() => decide(workspace, id, { agent_id: 'agent_1', decision: 'approve', edits })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(answers.find(({ status }) => status === 200)?.body).toEqual({ execution_id: id, status: 'running' });
    const ended = await untilListed(workspace, id, 'completed');
    expect(calls(workspace).map(({ body }) => JSON.parse(body))).toEqual([
      { subject: 'Hello' },
      { subject: 'Changed' },
    ]);
    expect(ended.previews.agent_1).toMatchObject({
      status: 'edited',
      edits,
      decided_by: workspace.userId,
      decided_at: expect.any(Number),
    });
    expect(ended.execution_context.waiting_for).toBeNull();
    const events = await deps.mongo.collections.execution_events.find({ execution_id: id }).sort({ seq: 1 }).toArray();
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('preview'))).toEqual([
      'preview_requested',
      'preview_decided',
    ]);
    expect(await decide(workspace, id, { agent_id: 'agent_1', decision: 'approve' })).toMatchObject({
      status: 409,
      body: { error: 'conflict' },
    });
  });

  test('has no side effect after a rejection; the run fails with the reason, even with a failover goal', async () => {
    verifies('agent.preview.decided', 'platform.executions.preview');
    const { workspace, id } = await waitingExecution({}, { failover_goal: 'something else' });
    const answer = await decide(workspace, id, { agent_id: 'agent_1', decision: 'reject', reason: 'not this way' });
    expect(answer).toMatchObject({ status: 200, body: { execution_id: id, status: 'failed' } });
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({
      code: 'preview_rejected',
      message: 'not this way',
      by: workspace.userId,
    });
    expect(ended.previews.agent_1).toMatchObject({ status: 'rejected' });
    expect(ended.execution_context.failover).toBeUndefined();
    expect(calls(workspace)).toEqual([]);
    expect(await closedAs(deps, id)).toBe('FAILED');
  });

  test('without actions asks for a decision on its output, and accepts a replacement text', async () => {
    verifies('agent.preview.waits', 'agent.preview.decided');
    const workspace = await createWorkspace(deps);
    const flow = flowThatCalls([], []);
    const agents = flow.agents.map((agent, at) => ({ ...agent, is_preview_mode_enabled: at === 0 }));
    const id = await startExecution(workspace, { ...flow, agents });
    const { previews, agents_output } = await untilExecution(workspace, id, waiting);
    expect(previews.agent_1).toMatchObject({
      kind: 'output',
      proposed: { output: expect.stringContaining('offline model') },
    });
    expect(agents_output).toEqual([]);
    expect(
      await decide(workspace, id, {
        agent_id: 'agent_1',
        preview_id: 'agent_1/output/preview',
        decision: 'approve',
        edits: { output: 'Mine. It is better.' },
      }),
    ).toMatchObject({ status: 200 });
    const ended = await untilListed(workspace, id, 'completed');
    expect(ended.agents_output.map(({ output }: any) => output)).toEqual([
      'Mine. It is better.',
      expect.stringContaining('It is better'),
    ]);
  });

  test('accepts only a decision on the current preview; a repeated decision gets its first answer', async () => {
    verifies('execution.preview.names-its-preview', 'execution.moves.repeated');
    const workspace = await createWorkspace(deps);
    const flow = previewFlow(workspace);
    const agents = flow.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true }));
    const id = await startExecution(
      workspace,
      { ...flow, agents: [{ ...agents[0], skills: [] }, agents[1]], failover_goal: 'again' },
      run,
    );
    const seen = { agent_id: 'agent_1', preview_id: 'agent_1/output/preview', decision: 'approve' };
    await untilExecution(workspace, id, { execution_context: { waiting_for: { preview_id: seen.preview_id } } });
    expect(
      await (
        await personOf(deps, workspace)
      ).post(`/execute_flow/${id}/preview`, { agent_id: 'agent_1', decision: 'approve' }),
    ).toMatchObject({ status: 400, body: { error_description: expect.stringContaining('preview_id') } });
    expect(await decide(workspace, id, { ...seen, preview_id: 'agent_1/turn-1/preview' })).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining(seen.preview_id) },
    });
    const key = { 'idempotency-key': 'once' };
    expect(await decide(workspace, id, seen, key)).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(await decide(workspace, id, seen, key)).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(await decide(workspace, id, { ...seen, decision: 'reject' }, key)).toMatchObject({ status: 409 });
    expect(await decide(workspace, id, seen)).toMatchObject({ status: 409 });
    await untilExecution(workspace, id, { execution_context: { waiting_for: { agent_id: 'agent_2' } } });
    expect(await decide(workspace, id, seen)).toMatchObject({ status: 409 });
    await moveExecution(workspace, id, 'cancel');
  });

  test('refuses decisions that do not match a preview', async () => {
    verifies('platform.executions.preview');
    const { workspace, id } = await waitingExecution();
    const other = await createWorkspace(deps);
    const approve = { agent_id: 'agent_1', decision: 'approve' };
    for (const [body, status] of [
      [{}, 400],
      [{ ...approve, decision: 'perhaps' }, 400],
      [{ ...approve, more: 1 }, 400],
      [{ ...approve, edits: 7 }, 400],
      [{ ...approve, edits: 'text' }, 400],
      [{ ...approve, edits: { action_9: {} } }, 400],
      [{ ...approve, edits: { action_1: { nothing: 1 } } }, 400],
      [{ ...approve, preview_id: 7 }, 400],
      [{ ...approve, agent_id: 'agent_2' }, 409],
      [{ ...approve, agent_id: 'agent_9' }, 404],
    ] as const) {
      expect([body, (await decide(workspace, id, body)).status]).toEqual([body, status]);
    }
    expect(await decide(other, id, approve)).toMatchObject({ status: 404 });
    expect(await decide(workspace, 'nonsense', approve)).toMatchObject({ status: 404 });
    const { _id: ready } = await prepareExecution(workspace, previewFlow(workspace), run);
    expect(await decide(workspace, ready, approve)).toMatchObject({ status: 409 });
    expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({ body: waiting });
    expect(calls(workspace)).toEqual([]);
  });
});

describe('the time limit of a preview', () => {
  test('ends the run if nobody answers', async () => {
    verifies('agent.preview.time-limit');
    const workspace = await createWorkspace(deps);
    const id = await startExecution(workspace, previewFlow(workspace, { preview_timeout_seconds: 1 }), run);
    const ended = await untilListed(workspace, id, 'failed');
    expect(ended.execution_context).toMatchObject({
      waiting_for: null,
      failure: { code: 'preview_expired', message: expect.stringContaining('Agent agent_1') },
    });
    expect(ended.previews.agent_1).toMatchObject({ status: 'expired', decided_by: null });
    expect(calls(workspace)).toEqual([]);
    expect(await decide(workspace, id, { agent_id: 'agent_1', decision: 'approve' })).toMatchObject({ status: 409 });
  });

  test('stops while the run is paused', async () => {
    verifies('execution.clocks-stop');
    const { workspace, id, preview } = await waitingExecution({ preview_timeout_seconds: 10 });
    expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(preview.expires_at + 1));
    expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({
      body: { status: 'paused', previews: { agent_1: { status: 'waiting' } } },
    });
    expect(await moveExecution(workspace, id, 'resume')).toMatchObject({ status: 200 });
    const body = await untilExecution(workspace, id, 'running');
    expect(body.previews.agent_1.expires_at).toBeGreaterThan(preview.expires_at + 1);
    expect(body.execution_context.waiting_for.expires_at).toBe(body.previews.agent_1.expires_at);
    expect(await decide(workspace, id, { agent_id: 'agent_1', decision: 'approve' })).toMatchObject({ status: 200 });
    await untilExecution(workspace, id, 'completed');
  });

  test('allows an answer in a paused run, which continues when it is resumed', async () => {
    const { workspace, id } = await waitingExecution();
    await moveExecution(workspace, id, 'pause');
    expect(await decide(workspace, id, { agent_id: 'agent_1', decision: 'approve' })).toMatchObject({
      status: 200,
      body: { status: 'paused' },
    });
    expect(calls(workspace)).toEqual([]);
    await moveExecution(workspace, id, 'resume');
    await untilExecution(workspace, id, 'completed');
    expect(calls(workspace)).toHaveLength(2);
  });
});
