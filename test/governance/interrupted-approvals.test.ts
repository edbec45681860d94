import { describe, expect, test } from '@jest/globals';
import type { Principal } from '../../src/auth/principal.js';
import { newId } from '../../src/base/ids.js';
import { epochSeconds } from '../../src/base/time.js';
import { approvalWorkflowId } from '../../workflows/approval/messages.js';
import { createApprovals } from '../../src/governance/approvals/create-approvals.js';
import { sweepApprovals } from '../../src/governance/approvals/sweep.js';
import { withdrawApprovalOfAct, withdrawApprovals } from '../../src/governance/approvals/withdraw.js';
import { eventually } from '../support/eventually.js';
import { agent, asking, colleagueOf, hold, principalOf, useApprovals } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const { deps, approvals } = useApprovals();
const { collections } = deps.mongo;
const { audit } = deps.governance;
const sweeping = { collections, audit, temporal: deps.temporal, log: deps.log };

/** A process that dies when it should start the workflow of an approval, after it has stored the record. */
const dying = createApprovals({
  ...{ collections, audit, secrets: deps.auth.box },
  ...{ redact: async (value: unknown) => value, hideSecrets: async (value: unknown) => value },
  temporal: { ...deps.temporal, call: () => Promise.reject(new Error('died')) },
});

/** The id of an approval whose workflow nobody has started. */
async function interrupted(principal: Principal, fields: Parameters<typeof hold>[2] = {}): Promise<string> {
  await expect(hold(dying, principal, fields)).rejects.toThrow('died');
  const stored = await collections.approvals.find({ project_id: principal.projectId }).toArray();
  expect(stored).toMatchObject([{ status: 'pending', revision: 0 }]);
  return stored[0]?._id ?? '';
}

const statusOf = async (_id: string) => (await collections.approvals.findOne({ _id }))?.status;

describe('an approval whose process died before it started its workflow', () => {
  test('is the one that a repeat of the call waits for', async () => {
    verifies('approval.started', 'approval.pending');
    const principal = agent();
    const id = await interrupted(principal);
    expect((await hold(approvals, principal)).approval_id).toBe(id);
    await eventually(async () => expect((await collections.approvals.findOne({ _id: id }))?.revision).toBe(1));
  });

  test('shows its call and can be decided, and the call then passes', async () => {
    verifies('approval.started');
    const principal = agent();
    const id = await interrupted(principal);
    const approver = colleagueOf(principal);
    const shown = await approvals.readWithCall(approver, id);
    expect(shown).toMatchObject({ status: 'pending', may_decide: true, payload: { input: expect.any(Object) } });
    expect(await approvals.decide(approver, id, { decision: 'approve' })).toMatchObject({ status: 'approved' });
    expect(await approvals.read(principal, id)).toMatchObject({ resume_token: expect.stringMatching(/^svc_rt_/) });
  });

  test('is started by one of several sweeps, but not while its process may still do it, and expires', async () => {
    verifies('approval.started', 'approval.expired');
    const id = await interrupted(agent(), { decision: { ...asking, approval_ttl_seconds: 1 } });
    await sweepApprovals(sweeping, epochSeconds());
    expect(await collections.approvals.findOne({ _id: id })).toMatchObject({ revision: 0 });
    const later = epochSeconds() + 61;
    await Promise.all([sweepApprovals(sweeping, later), sweepApprovals(sweeping, later)]);
    await eventually(async () => expect(await statusOf(id)).toBe('expired'));
    expect(await collections.approvals.findOne({ _id: id })).not.toHaveProperty('due_at');
  });

  test('is withdrawn when its run ends, or when its run no longer waits for it', async () => {
    verifies('approval.started', 'approval.rejected');
    const [ended, goesOn] = [newId(), newId()];
    const idempotency_key = `${goesOn}/agent/call`;
    const lifecycleId = newId();
    const [first, second] = await Promise.all([
      interrupted(principalOf('MEMBER', { kind: 'execution', executionId: ended })),
      interrupted(principalOf('MEMBER', { kind: 'execution', executionId: goesOn }), { lifecycleId }),
    ]);
    const intent = { tool: 'act.http', principal: { user_id: 'u', kind: 'execution' as const }, actor: 'a' };
    await collections.intents.insertOne({
      ...{ _id: lifecycleId, ...intent, resource: `act:${idempotency_key}`, project_id: 'p', organization_id: 'o' },
      ...{ trace_id: 't', created_at: epochSeconds(), leased_until: new Date(Date.now() + 60_000) },
    });
    await withdrawApprovals(sweeping, ended);
    await withdrawApprovalOfAct(sweeping, { execution_id: goesOn, idempotency_key });
    for (const id of [first, second])
      await eventually(async () =>
        expect(await collections.approvals.findOne({ _id: id })).toMatchObject({
          ...{ status: 'rejected', decided_by: 'operator' },
        }),
      );
  });
});

describe('an approval whose workflow an operator has terminated', () => {
  const terminate = (id: string) =>
    deps.temporal.client.workflow.getHandle(approvalWorkflowId(id)).terminate('by an operator');

  test.each(['approve', 'reject'] as const)(
    'is rejected when somebody tries to %s it, and says why',
    async (decision) => {
      verifies('approval.started', 'approval.rejected');
      const principal = agent();
      const { approval_id: id } = await hold(approvals, principal, { decision: { ...asking, approvers: 2 } });
      const [first, second] = [colleagueOf(principal), colleagueOf(principal)];
      await approvals.decide(first, id, { decision: 'approve' });
      await terminate(id);
      await expect(approvals.decide(second, id, { decision })).rejects.toMatchObject({
        ...{ code: 'conflict', message: 'an operator has ended the workflow of this approval: its call is rejected' },
      });
      expect(await approvals.read(second, id)).toMatchObject({
        ...{ status: 'rejected', decided_by: 'operator', votes: [{ user_id: first.userId }] },
      });
      await expect(approvals.decide(second, id, { decision })).rejects.toMatchObject({
        ...{ code: 'conflict', message: 'the approval is rejected' },
      });
      expect(await hold(approvals, principal)).not.toMatchObject({ approval_id: id });
    },
  );
});
