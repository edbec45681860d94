import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { ask, decide, heldApproval, permit, useActs, type Governed } from '../../../support/acts.js';
import { outputsOf } from '../../../support/connectors.js';
import { moveExecution, untilExecution } from '../../../support/executions.js';
import { personOf } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';

const { deps, sink, governed, outcomesOf } = await useActs();

/** A run whose approved call was sent, and whose answer was lost. Returns the id and the new approval. */
async function lostCall(of: Governed): Promise<[string, string]> {
  sink.answer(`${of.prefix}/one`, (_, res) => void res.socket?.resetAndDestroy());
  const id = await of.start('one');
  const first = await heldApproval(of, id);
  expect(await of.approver.post(`/v1/approvals/${first}/accept`, {})).toMatchObject({
    status: 409,
    body: { error: 'conflict', error_description: expect.stringContaining('unknown') },
  });
  await decide(of.approver, first, 'approve');
  return [id, await heldApproval(of, id, first)];
}

describe('a call whose outcome is unknown', () => {
  test('is accepted as done by a person: it is not repeated, and this is reported to the agent', async () => {
    verifies('act.unknown.accept');
    const of = await governed(ask);
    const [id, approval] = await lostCall(of);
    expect(await of.approver.get(`/v1/approvals/${approval}`)).toMatchObject({ body: { outcome_unknown: true } });
    const [starter, member] = await Promise.all([
      personOf(deps, of.workspace),
      personOf(deps, of.workspace, { userId: newId(), role: 'MEMBER' }),
    ]);
    for (const person of [starter, member])
      expect(await decide(person, approval, 'accept')).toMatchObject({ status: 403 });
    const accepted = await of.approver.post(`/v1/approvals/${approval}/accept`, { reason: 'It has arrived' });
    expect(accepted).toMatchObject({ status: 200, body: { votes: [{ decision: 'accept' }] } });
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(outputsOf(ended)).toEqual([{ accepted_as_done: true, message: 'It has arrived' }]);
    expect(of.seen()).toBe(1);
    expect((await outcomesOf(of)).slice(-2)).toEqual(['pending_approval: held', 'completed: accepted']);
    expect(await of.approver.get(`/v1/approvals/${approval}`)).toMatchObject({ body: { status: 'used' } });
    expect(await decide(of.approver, approval, 'accept')).toMatchObject({ status: 409 });
  });

  test('is accepted in the inbox, even if the rules have permitted the call since', async () => {
    verifies('act.unknown.accept');
    const of = await governed(ask);
    const [id, approval] = await lostCall(of);
    await of.policies(permit);
    const answer = await of.approver.post(`/inbox/approval:${approval}/reply`, { decision: 'accept' });
    expect(answer).toMatchObject({ status: 200, body: { status: 'approved', body: { outcome_unknown: true } } });
    const ended = await untilExecution(of.workspace, id, 'completed');
    expect(outputsOf(ended)).toMatchObject([{ accepted_as_done: true }]);
    expect(of.seen()).toBe(1);
  });
});

test('a call that was accepted as done stays accepted, even if a rule forbids it since', async () => {
  verifies('act.unknown.accept');
  const of = await governed(ask);
  const [id, approval] = await lostCall(of);
  await moveExecution(of.workspace, id, 'pause');
  await decide(of.approver, approval, 'accept', 'It has arrived');
  await of.policies(permit, { ...ask, effect: 'forbid' });
  await moveExecution(of.workspace, id, 'resume');
  const ended = await untilExecution(of.workspace, id, 'completed');
  expect(outputsOf(ended)).toEqual([{ accepted_as_done: true, message: 'It has arrived' }]);
  expect(of.seen()).toBe(1);
});

test('a rejected act is not made, even if the rules have permitted it since', async () => {
  verifies('act.hold.rejected');
  const of = await governed(ask);
  const id = await of.start('one');
  const approval = await heldApproval(of, id);
  await moveExecution(of.workspace, id, 'pause');
  await decide(of.approver, approval, 'reject', 'Not today');
  await of.policies(permit);
  await moveExecution(of.workspace, id, 'resume');
  const ended = await untilExecution(of.workspace, id, 'completed');
  expect(outputsOf(ended)).toEqual([{ error: { code: 'approval_rejected', message: 'Not today' } }]);
  expect(of.seen()).toBe(0);
  expect((await outcomesOf(of)).at(-1)).toBe('denied: refused: rejected');
});
