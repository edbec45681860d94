import { afterAll, describe, expect, test } from '@jest/globals';
import { createSecretBox } from '../../src/auth/secret-box.js';
import { createApprovals } from '../../src/governance/approvals/create-approvals.js';
import { payloadDigest } from '../../src/governance/approvals/payload-digest.js';
import type { PolicyDecision } from '../../src/governance/policy/decision.js';
import { newId } from '../../src/ids.js';
import { approvalWorkflowId, stateQuery } from '../../workflows/approval/messages.js';
import { colleagueOf, principalOf, startApprovalWorker } from '../governance/approvals-harness.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const queue = { TEMPORAL_TASK_QUEUE: `approval-${newId()}` };
const deps = useDeps(queue);
const approvals = createApprovals({ collections: deps.mongo.collections, temporal: deps.temporal, secrets: createSecretBox(deps.config) });
const startWorker = () => startApprovalWorker({ ...testRun().env, ...queue, NODE_ENV: 'test' });
let worker: { end(): Promise<void> } | undefined;
afterAll(() => worker?.end());

async function hold(principal = principalOf('MEMBER'), ttl = 600, approvers = 1) {
  const decision: PolicyDecision = { decision: 'require_approval', policy_ids: ['ask'], policy_version: 1, approvers, approval_ttl_seconds: ttl, reason: 'It is asked.' };
  const outcome = await approvals.stage({
    principal,
    lifecycleId: newId(),
    tool: 'run-agent',
    payloadDigest: payloadDigest('run-agent', { goal: newId() }),
    decision,
    resumeToken: undefined,
    dryRun: false,
  });
  if (outcome.outcome !== 'pending') throw new Error(outcome.outcome);
  const { approval_id } = outcome;
  return { principal, approval_id, handle: deps.temporal.client.workflow.getHandle(approvalWorkflowId(approval_id)) };
}

describe('approval', () => {
  test('waits without a worker, outlives kill -9 of its worker, and is then approved', async () => {
    verifies('approval.workflow', 'approval.approved');
    const { principal, approval_id, handle } = await hold(undefined, 600, 2);
    expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'pending' });
    worker = await startWorker();
    await approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' });
    await worker.end();
    worker = await startWorker();
    const approver = colleagueOf(principal);
    // Temporal first waits for the worker that held the run, longer than a caller is kept waiting.
    await eventually(async () => {
      const { status } = await approvals.read(principal, approval_id);
      if (status === 'pending') await approvals.decide(approver, approval_id, { decision: 'approve' });
    });
    await eventually(async () => expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'approved' }));
    expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'approved', resume_token: expect.any(String) });
    expect(await handle.result()).toMatchObject({ status: 'approved', votes: [{ decision: 'approve' }, { decision: 'approve' }] });
  });

  test('expires by its timer, also when nobody was there to see its time pass', async () => {
    verifies('approval.expired');
    await worker?.end();
    const { principal, approval_id, handle } = await hold(undefined, 1);
    worker = await startWorker();
    expect(await handle.result()).toMatchObject({ status: 'expired', decided_by: null });
    await eventually(async () => expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'expired', decided_by: null }));
    await expect(approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' })).rejects.toMatchObject({ code: 'conflict' });
    expect(await deps.mongo.collections.resume_tokens.countDocuments({ approval_id })).toBe(0);
  });

  test('a cancel in Temporal rejects the call', async () => {
    verifies('approval.rejected');
    const { principal, approval_id, handle } = await hold();
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ status: 'rejected', decided_by: 'operator' });
    expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'rejected' });
    await expect(approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('is told apart from a run that was terminated: deciding is a conflict', async () => {
    const { principal, approval_id, handle } = await hold();
    await handle.query(stateQuery);
    await handle.terminate();
    await expect(approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('shows in Temporal what is asked, by whom and where', async () => {
    const { principal, handle } = await hold();
    const { memo, searchAttributes, type } = await handle.describe();
    expect(type).toBe('approval');
    expect(memo).toEqual({ tool: 'run-agent', requested_by: principal.userId });
    expect(searchAttributes).toMatchObject({ ProjectId: [principal.projectId], OrganizationId: [principal.organizationId], LifecycleId: [expect.any(String)] });
  });
});
