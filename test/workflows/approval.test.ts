import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PolicyEvaluation } from '../../src/governance/policy/decision.js';
import { newId } from '../../src/base/ids.js';
import { approvalWorkflowId, decideUpdate, stateQuery } from '../../workflows/approval/messages.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { asking, colleagueOf, hold, principalOf } from '../support/governance/approvals.js';
import { ownProduct } from '../support/own-product.js';
import type { ProductProcess } from '../support/processes.js';
import { verifies } from '../support/verifies.js';

const queue = { TEMPORAL_TASK_QUEUE: `approval-${newId()}` };
const deps = useDeps(queue);
const { approvals } = deps.governance;
const product = ownProduct(queue);
let worker: ProductProcess;

async function held(decision: Partial<PolicyEvaluation> = {}) {
  const principal = principalOf('MEMBER');
  const { approval_id } = await hold(approvals, principal, { decision: { ...asking, ...decision } });
  return { principal, approval_id, handle: deps.temporal.client.workflow.getHandle(approvalWorkflowId(approval_id)) };
}

type Held = Awaited<ReturnType<typeof held>>;

describe('approvals whose worker is killed', () => {
  let voted: Held;
  let expiring: Held;
  let cancelled: Held;
  let answer: Promise<unknown>;
  beforeAll(async () => {
    voted = await held({ approvers: 2 });
    expect(await approvals.read(voted.principal, voted.approval_id)).toMatchObject({ status: 'pending' });
    worker = await product.worker();
    await approvals.decide(colleagueOf(voted.principal), voted.approval_id, { decision: 'approve' });
    cancelled = await held();
    expiring = await held({ approval_ttl_seconds: 10 });
    const history = async () => (await expiring.handle.fetchHistory()).events ?? [];
    await eventually(async () =>
      expect((await history()).some((event) => event.timerStartedEventAttributes)).toBe(true),
    );
    await worker.end('SIGKILL');
    const request = { approver: { user_id: newId(), role: 'OWNER' }, decision: 'approve' as const };
    answer = cancelled.handle.executeUpdate(decideUpdate, { args: [request] }).catch((error: unknown) => error);
    await cancelled.handle.cancel();
    await eventually(async () => expect((await history()).some((event) => event.timerFiredEventAttributes)).toBe(true));
    expect(await approvals.read(expiring.principal, expiring.approval_id)).toMatchObject({ status: 'pending' });
    worker = await product.worker();
  });

  test('waits without a worker, survives kill -9 of its worker, and is then approved', async () => {
    verifies('approval.workflow', 'approval.approved');
    const { principal, approval_id, handle } = voted;
    const approver = colleagueOf(principal);
    // Temporal first waits for the worker that held the run, longer than a caller waits.
    await eventually(async () => {
      const { status } = await approvals.read(principal, approval_id);
      if (status === 'pending') await approvals.decide(approver, approval_id, { decision: 'approve' });
    });
    await eventually(async () =>
      expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'approved' }),
    );
    expect(await approvals.read(principal, approval_id)).toMatchObject({
      status: 'approved',
      resume_token: expect.any(String),
    });
    expect(await handle.result()).toMatchObject({
      status: 'approved',
      votes: [{ decision: 'approve' }, { decision: 'approve' }],
    });
  });

  test('expires by a timer that outlives the worker that started it', async () => {
    verifies('approval.expired');
    const { principal, approval_id, handle } = expiring;
    expect(await handle.result()).toMatchObject({ status: 'expired', decided_by: null });
    await eventually(async () =>
      expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'expired', decided_by: null }),
    );
    await expect(approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await deps.mongo.collections.approvals.findOne({ _id: approval_id })).not.toHaveProperty('token');
  });

  test('a vote that arrived before a cancel counts, and its caller gets the answer', async () => {
    expect(await answer).toMatchObject({ status: 'approved' });
    expect(await cancelled.handle.result()).toMatchObject({ status: 'approved', votes: [{ decision: 'approve' }] });
  });
});

describe('approval', () => {
  test('a cancel in Temporal rejects the call', async () => {
    verifies('approval.rejected');
    const { principal, approval_id, handle } = await held();
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ status: 'rejected', decided_by: 'operator' });
    expect(await approvals.read(principal, approval_id)).toMatchObject({ status: 'rejected' });
    await expect(approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('after its workflow was terminated, answers a decision with a conflict', async () => {
    const { principal, approval_id, handle } = await held();
    await handle.query(stateQuery);
    await handle.terminate();
    await expect(approvals.decide(colleagueOf(principal), approval_id, { decision: 'approve' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('shows in Temporal the request, its requester and its location', async () => {
    const { principal, handle } = await held();
    const { memo, searchAttributes, type } = await handle.describe();
    expect(type).toBe('approval');
    expect(memo).toEqual({ tool: 'save-context', requested_by: principal.userId });
    expect(searchAttributes).toMatchObject({
      ProjectId: [principal.projectId],
      OrganizationId: [principal.organizationId],
      LifecycleId: [expect.any(String)],
    });
  });
});
