import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { payloadDigest } from '../../../../src/governance/approvals/payload-digest.js';
import { ask, decide, heldApproval, permit, useActs, type Governed } from '../../../support/acts.js';
import { field, flowOf } from '../../../support/connectors.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { personOf } from '../../../support/fixture.js';
import { actionTo } from '../../../support/flows.js';
import { verifies } from '../../../support/verifies.js';

const { deps, sink, governed, lifecyclesOf, outcomesOf } = await useActs();

/** A run whose action posts `text` and `count`. */
async function startLetter(of: Governed): Promise<string> {
  const action = {
    ...actionTo(`${sink.url}${of.prefix}/letter`),
    input_schema: { fields: [field('text'), field('count', 'integer', false)] },
  };
  return startExecution(of.workspace, flowOf(null, action), { input_variables: { text: 'Dear Ada', count: 1 } });
}

const approve = (of: Governed, id: string, body: object) => of.approver.post(`/v1/approvals/${id}/approve`, body);
const sent = (of: Governed) => sink.seen(`${of.prefix}/letter`).map(({ body }) => JSON.parse(body) as unknown);

describe('an approver', () => {
  test('edits an act: the edited call has its own digest and is sent once, and the run shows it', async () => {
    verifies('act.edit');
    const of = await governed(ask);
    const id = await startLetter(of);
    const approval = await heldApproval(of, id);
    const before = await of.approver.get(`/v1/approvals/${approval}`);
    const { payload_digest } = before.body;
    expect(before.body).toMatchObject({
      edited_payload_digest: null,
      editable_fields: { text: 'string', count: 'integer' },
    });
    expect(await approve(of, approval, { payload_digest: 'another' })).toMatchObject({
      status: 409,
      body: { error_description: expect.stringContaining('another call waits: read it again') },
    });
    const edits = { text: 'Dear Grace' };
    const edited_payload_digest = payloadDigest('act.http', { edited: payload_digest, edits });
    const decided = await approve(of, approval, { edits, payload_digest, reason: 'The other one' });
    expect(decided).toMatchObject({ status: 200, body: { status: 'approved', payload_digest, edited_payload_digest } });
    // The summary is that of the edited call.
    const summary = before.body.summary.replace('Ada', 'Grace');
    expect(before.body.summary).toContain('Dear Ada');
    expect(decided.body.summary).toBe(summary);
    const { body: listed } = await of.approver.get('/v1/approvals');
    expect(listed.data).toMatchObject([{ approval_id: approval, summary }]);
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(sent(of)).toEqual([{ text: 'Dear Grace', count: 1 }]);
    expect(ended.agents_output[0].actions).toMatchObject([{ output: { ok: true }, edits }]);
    const { body: monitoring } = await of.workspace.api.get(`/execute_flow/${id}/monitoring`);
    expect(monitoring.steps[0]).toMatchObject({ status: 'completed', edited_fields: ['text'] });
    expect(await of.approver.get(`/v1/approvals/${approval}`)).toMatchObject({
      body: {
        status: 'used',
        payload_digest,
        edited_payload_digest,
        votes: [{ payload_digest: edited_payload_digest }],
      },
    });
    expect(await lifecyclesOf(of)).toMatchObject([
      { payload_digest, status: 'completed' },
      { payload_digest: edited_payload_digest, status: 'completed', approval_id: approval },
    ]);
    // The values are stored only sealed.
    const kept = await deps.mongo.collections.act_edits.findOne({ _id: `${approval}/${edited_payload_digest}` });
    expect(kept?.sealed).not.toContain('Grace');
  });

  test('edits a field that the address contains', async () => {
    verifies('act.edit');
    const of = await governed(ask);
    const action = {
      ...actionTo(`${sink.url}${of.prefix}/people/{{ person }}`),
      method: 'DELETE',
      input_schema: { fields: [field('person')] },
    };
    const options = { input_variables: { person: 'ada' } };
    const id = await startExecution(of.workspace, flowOf(null, action), options);
    await approve(of, await heldApproval(of, id), { edits: { person: 'grace' } });
    await untilExecution(of.workspace, id, 'completed');
    expect(sink.seen(`${of.prefix}/people/ada`)).toEqual([]);
    expect(sink.seen(`${of.prefix}/people/grace`)).toHaveLength(1);
  });

  test('edits an act in the inbox', async () => {
    verifies('act.edit');
    const of = await governed(ask);
    const id = await startLetter(of);
    const item = `/inbox/approval:${await heldApproval(of, id)}/reply`;
    const text = await of.approver.post(item, { decision: 'approve', edits: 'Dear Grace' });
    expect(text).toMatchObject({ status: 422, body: { error: 'validation_failed' } });
    const answer = await of.approver.post(item, { decision: 'approve', edits: { count: 3 } });
    expect(answer).toMatchObject({ status: 200, body: { status: 'edited', execution_id: id } });
    await untilExecution(of.workspace, id, 'completed');
    expect(sent(of)).toEqual([{ text: 'Dear Ada', count: 3 }]);
  });

  test('cannot edit other fields, types and calls, nor with a rejection or a stale digest', async () => {
    verifies('act.edit.refused');
    const of = await governed(ask, { policy_id: 'docs', effect: 'require_approval', tools: ['tag.create'] });
    const id = await startLetter(of);
    const approval = await heldApproval(of, id);
    for (const edits of [
      { url: 'http://other.example' },
      { text: 1 },
      { count: 1.5 },
      { text: null },
      {},
      { text: 'x'.repeat(70_000) },
    ]) {
      expect(await approve(of, approval, { edits })).toMatchObject({
        status: 422,
        body: { error: 'validation_failed', error_description: expect.stringMatching(/^edits(\.\w+)?: /) },
      });
    }
    const raw = JSON.parse('{"edits": {"__proto__": "x"}}') as object;
    expect((await approve(of, approval, raw)).status).toBeGreaterThanOrEqual(400);
    expect(await approve(of, approval, { edits: { text: 'x' }, payload_digest: 'f'.repeat(64) })).toMatchObject({
      status: 409,
    });
    const edits = { text: 'x' };
    expect(await of.approver.post(`/v1/approvals/${approval}/reject`, { edits })).toMatchObject({ status: 400 });
    const rejected = await of.approver.post(`/inbox/approval:${approval}/reply`, { decision: 'reject', edits });
    expect(rejected).toMatchObject({ status: 422 });
    const starter = await personOf(deps, of.workspace);
    expect(await starter.post(`/v1/approvals/${approval}/approve`, { edits })).toMatchObject({ status: 403 });
    expect(await of.approver.get(`/v1/approvals/${approval}`)).toMatchObject({
      body: { status: 'pending', votes: [] },
    });
    const tag = await of.workspace.api.post(`/tag?projectID=${of.workspace.projectID}`, { name: 'held' });
    expect(tag).toMatchObject({ status: 202 });
    expect(await approve(of, tag.body.approval_id, { edits })).toMatchObject({ status: 422 });
    expect(sent(of)).toEqual([]);
  });

  test('restarts the count with an edit: others see the edits, and approve exactly these', async () => {
    verifies('act.edit.several', 'approval.votes-counted');
    const of = await governed({ ...ask, approvers: 2 });
    const id = await startLetter(of);
    const approval = await heldApproval(of, id);
    const second = await personOf(deps, of.workspace, { userId: newId(), role: 'OWNER' });
    const { body: first } = await approve(of, approval, {});
    expect(first).toMatchObject({ status: 'pending', votes: [{ decision: 'approve' }], approvals_given: 1 });
    const edited = await second.post(`/v1/approvals/${approval}/approve`, { edits: { text: 'Dear Grace' } });
    expect(edited).toMatchObject({ status: 200, body: { status: 'pending', approvals_given: 1 } });
    expect(edited.body.votes).toHaveLength(2);
    // Neither an approval without having seen the edits nor an earlier approval counts.
    expect(await approve(of, approval, {})).toMatchObject({ status: 409 });
    const { payload_digest } = first;
    expect(await approve(of, approval, { payload_digest })).toMatchObject({ status: 409 });
    const { body: seen } = await of.approver.get(`/v1/approvals/${approval}`);
    expect(seen.payload.edits).toEqual({ text: 'Dear Grace' });
    expect(await approve(of, approval, { payload_digest: seen.edited_payload_digest })).toMatchObject({
      status: 200,
      body: { status: 'approved' },
    });
    await untilExecution(of.workspace, id, 'completed');
    expect(sent(of)).toEqual([{ text: 'Dear Grace', count: 1 }]);
  });

  test('cannot edit an act into one that the rules forbid, and an edited call needs another approval if the rules change', async () => {
    verifies('act.edit.rules');
    const forbid = {
      policy_id: 'no-eve',
      effect: 'forbid',
      tools: ['act.http'],
      when: 'context.input.arguments like "*Eve*"',
    };
    const of = await governed(ask, forbid);
    const id = await startLetter(of);
    await approve(of, await heldApproval(of, id), { edits: { text: 'Dear Eve' } });
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(ended.agents_output[0].actions).toMatchObject([{ output: { error: { code: 'policy_denied' } } }]);
    const other = await startLetter(of);
    const first = await heldApproval(of, other);
    await of.policies(permit, { ...ask, description: 'Changed.' });
    await approve(of, first, { edits: { text: 'Dear Grace' } });
    const again = await heldApproval(of, other, first);
    const { body } = await of.approver.get(`/v1/approvals/${again}`);
    expect(body.payload.input.call.body).toEqual({ text: 'Dear Grace', count: 1 });
    await decide(of.approver, again, 'approve');
    await untilExecution(of.workspace, other, 'completed');
    expect(sent(of)).toEqual([{ text: 'Dear Grace', count: 1 }]);
    expect((await outcomesOf(of)).slice(-3)).toEqual([
      'denied: refused: other_policy_version',
      'pending_approval: held',
      'completed: answered',
    ]);
  });
});
