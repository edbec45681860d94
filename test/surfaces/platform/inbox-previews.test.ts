import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { newId } from '../../../src/base/ids.js';
import { createWorkspace, personOf, useDeps } from '../../support/fixture.js';
import { actionTo, agentThatCalls } from '../../support/flows.js';
import { bearerClient } from '../../support/gateway.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();

/** An execution that waits for a person before it calls the sink, and its item in the inbox. */
async function waitingItem() {
  const workspace = await createWorkspace(deps);
  const path = `/${workspace.projectID}`;
  const action = { ...actionTo(`${sink.url}${path}`, 'action_1'), input_schema: { fields: [{ field_id: 'subject' }] } };
  const agent = {
    ...agentThatCalls([]),
    is_preview_mode_enabled: true,
    skills: [{ name: 'Calls', actions: [action] }],
  };
  const id = await startExecution(workspace, { name: 'Test flow', agents: [agent] });
  const item = await eventually(async () => {
    const { body } = await workspace.api.get('/inbox');
    expect(body).toMatchObject({
      total_count: 1,
      data: [
        {
          kind: 'approval',
          execution_id: id,
          status: 'waiting',
          body: {
            tool: 'execution.preview',
            call: { agent_id: 'agent_1', kind: 'actions', proposed: [{ action_id: 'action_1' }] },
          },
        },
      ],
    });
    return body.data[0];
  });
  const person = await personOf(deps, workspace);
  return { workspace, person, id, item, calls: () => sink.seen(path).length };
}

/** The answer to a decision. */
const decided = (status: string) => ({
  ...{ status, may_decide: false, may_not_decide_reason: 'the approval is approved' },
});

test('a reply in the inbox continues the waiting execution once', async () => {
  verifies('platform.inbox.reply');
  const { workspace, person, id, item, calls } = await waitingItem();
  expect(calls()).toBe(0);
  const reply = () => person.post(`/inbox/${item._id}/reply`, { decision: 'approve' });
  const answers = await Promise.all([reply(), reply(), reply()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  // The list shows an excerpt, and a person sees the whole call.
  const payload_view = { ...item.body.payload_view, is_redacted: false };
  const body = { ...item.body, is_excerpt: false, payload_view, approvals_given: 1 };
  expect(answers.find(({ status }) => status === 200)?.body).toEqual({ ...item, body, ...decided('approved') });
  await untilExecution(workspace, id, 'completed');
  expect(calls()).toBe(1);
  await eventually(async () => expect((await workspace.api.get('/inbox')).body.total_count).toBe(0));
  expect(await reply()).toMatchObject({ status: 409, body: { error: 'conflict' } });
});

test('edits in the inbox change the action of the agent', async () => {
  verifies('platform.inbox.reply');
  const { workspace, person, id, item } = await waitingItem();
  const answer = await person.post(`/inbox/${item._id}/reply`, {
    decision: 'approve',
    edits: { action_1: { subject: 'Changed' } },
  });
  expect(answer).toMatchObject({ status: 200, body: { _id: item._id, ...decided('edited') } });
  await untilExecution(workspace, id, 'completed');
  expect(sink.seen(`/${workspace.projectID}`).map(({ body }) => JSON.parse(body))).toEqual([{ subject: 'Changed' }]);
});

test('a rejection in the inbox stops the planned action with the reason', async () => {
  verifies('platform.inbox.reply');
  const { workspace, person, id, item, calls } = await waitingItem();
  expect(await person.post(`/inbox/${item._id}/reply`, { decision: 'reject', reason: 'not now' })).toMatchObject({
    status: 200,
    body: { status: 'rejected' },
  });
  const { execution_context } = await untilExecution(workspace, id, 'failed');
  expect(JSON.stringify(execution_context.failure)).toContain('not now');
  expect(calls()).toBe(0);
});

test('edits that do not match are refused, and the execution keeps waiting', async () => {
  verifies('platform.inbox.reply');
  const { workspace, person, item, calls } = await waitingItem();
  expect(
    await person.post(`/inbox/${item._id}/reply`, { decision: 'approve', edits: { nothing: { a: 1 } } }),
  ).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  expect((await workspace.api.get('/inbox')).body).toMatchObject({ data: [{ _id: item._id, status: 'waiting' }] });
  expect(calls()).toBe(0);
});

test('a rule can require the approval of two other people for a preview, as for acts', async () => {
  verifies('approval.previews');
  const { workspace, person, id, item, calls } = await waitingItem();
  const [one, two] = await Promise.all(
    [newId(), newId()].map((userId) => personOf(deps, workspace, { userId, role: 'ORG_ADMIN' })),
  );
  const rule = { policy_id: 'two', effect: 'require_approval', tools: ['execution.decide'], approvers: 2 };
  const policies = [{ policy_id: 'all', effect: 'permit' }, rule];
  expect(await one?.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const decision = { agent_id: 'agent_1', preview_id: item.body.call.preview_id, decision: 'approve' };
  const decide = (headers = {}) => person.post(`/execute_flow/${id}/preview`, decision, headers);
  const held = await decide();
  expect(held).toMatchObject({ status: 202, body: { status: 'pending_approval' } });
  const { approval_id } = held.body;
  const approve = (by = one) => by?.post(`/v1/approvals/${approval_id}/approve`, {});
  expect(await approve()).toMatchObject({ status: 200 });
  expect(calls()).toBe(0);
  expect(await approve(two)).toMatchObject({ status: 200 });
  const { body } = await person.get(`/v1/approvals/${approval_id}`);
  const resumed = await decide({ 'x-resume-token': body.resume_token });
  expect(resumed).toMatchObject({ status: 200, body: { execution_id: id } });
  await untilExecution(workspace, id, 'completed');
  expect(calls()).toBe(1);
});

test('a preview is an approval under a built-in rule, which the person who started the run may decide as well', async () => {
  verifies('approval.previews-are-approvals');
  const { workspace, person, id, item, calls } = await waitingItem();
  const api = person;
  const path = `/v1/approvals/${item.approval_id}`;
  const { call, is_excerpt: _, ...shown } = item.body;
  const approval = {
    ...shown,
    ...{ approval_id: item.approval_id, execution_id: id, status: 'pending', may_decide: true },
    ...{ policy_ids: ['builtin.preview'], expires_at: item.expires_at },
    payload_view: { ...shown.payload_view, is_redacted: false },
  };
  expect((await api.get('/v1/approvals')).body).toMatchObject({ total_count: 1, data: [approval] });
  expect((await api.get('/v1/approvals?status=approved')).body).toMatchObject({ total_count: 0 });
  expect((await api.get(path)).body).toMatchObject({ ...approval, payload: call });
  const { payload_digest } = shown;
  const other = { payload_digest: payload_digest.replace(/^./, (first: string) => (first === '0' ? '1' : '0')) };
  expect(await api.post(`${path}/approve`, other)).toMatchObject({ status: 409 });
  expect(await api.post(`${path}/accept`, {})).toMatchObject({ status: 409 });
  const stranger = bearerClient((await createWorkspace(deps)).apiKey);
  expect(await stranger.get(path)).toMatchObject({ status: 404 });
  const edits = { action_1: { subject: 'Changed' } };
  expect(await api.post(`${path}/approve`, { payload_digest, edits })).toMatchObject({
    status: 200,
    body: { status: 'approved', decided_by: workspace.userId, edited_payload_digest: expect.any(String) },
  });
  expect(await api.post(`${path}/reject`, {})).toMatchObject({ status: 409 });
  const { previews } = await untilExecution(workspace, id, 'completed');
  expect(previews.agent_1).toMatchObject({ status: 'edited', edits });
  expect(calls()).toBe(1);
  await eventually(async () => expect((await api.get(path)).body).toMatchObject({ status: 'approved' }));
});

test('a rule on the decision of previews applies to every route that decides them', async () => {
  verifies('approval.previews-are-approvals');
  const { workspace, person, item, calls } = await waitingItem();
  const owner = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN' });
  const rule = { policy_id: 'never', effect: 'forbid', tools: ['execution.decide'] };
  expect(await owner.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, rule] })).toMatchObject({
    status: 200,
  });
  const { approval_id, body } = item;
  const decision = { agent_id: 'agent_1', preview_id: body.call.preview_id, decision: 'approve' };
  for (const answer of [
    await person.post(`/v1/approvals/${approval_id}/approve`, {}),
    await person.post(`/inbox/${item._id}/reply`, { decision: 'approve' }),
    await person.post(`/execute_flow/${item.execution_id}/preview`, decision),
  ])
    expect(answer).toMatchObject({ status: 403 });
  expect(calls()).toBe(0);
});
