import { describe, expect, test } from '@jest/globals';
import { approvalSettledSignal } from '../../../../workflows/agentflow-execution/act-messages.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { ask, decide, heldApproval, useActs, type Governed } from '../../../support/acts.js';
import { eventually } from '../../../support/eventually.js';
import { closedAs, moveExecution, untilExecution } from '../../../support/executions.js';
import { verifies } from '../../../support/verifies.js';

const { deps, governed, lifecyclesOf } = await useActs();

const approvalOf = async (of: Governed, id: string) => (await of.approver.get(`/v1/approvals/${id}`)).body;

/** Pauses the run, and waits until the clock of the approval is stopped. */
async function pausedWith(of: Governed, id: string, approval: string) {
  expect(await moveExecution(of.workspace, id, 'pause')).toMatchObject({ status: 200 });
  return eventually(async () => {
    const body = await approvalOf(of, approval);
    expect(body).toMatchObject({ status: 'pending', clock_stopped_at: expect.any(Number) });
    return body;
  });
}

describe('a pause of a run whose act waits', () => {
  test.concurrent('stops the clock of the approval, which expires later by the length of the pause', async () => {
    verifies('act.pause');
    const of = await governed({ ...ask, approval_ttl_seconds: 25 });
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    const { expires_at, clock_stopped_at } = await pausedWith(of, id, approval);
    // Longer than the original time limit of the approval.
    await eventually(() => expect(Date.now() / 1000).toBeGreaterThan(expires_at + 2));
    const shown = await approvalOf(of, approval);
    expect(shown).toMatchObject({ status: 'pending', expires_at, payload: { input: { call: { method: 'POST' } } } });
    expect(await moveExecution(of.workspace, id, 'resume')).toMatchObject({ status: 200 });
    const after = await eventually(async () => {
      const body = await approvalOf(of, approval);
      expect(body).toMatchObject({ status: 'pending', clock_stopped_at: null });
      return body;
    });
    expect(after.expires_at).toBeGreaterThan(expires_at + (expires_at - clock_stopped_at));
    const { body: run } = await of.workspace.api.get(`/execute_flow/${id}`);
    expect(run.execution_context.waiting_for.expires_at).toBeGreaterThan(expires_at + 1);
    expect(await decide(of.approver, approval, 'approve')).toMatchObject({ status: 200 });
    await untilExecution(of.workspace, id, 'completed');
    expect(of.seen()).toBe(1);
  });

  test.concurrent('lets people decide, and the act is made after it', async () => {
    verifies('act.pause');
    const of = await governed(ask);
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    await pausedWith(of, id, approval);
    const { api, projectID } = of.workspace;
    const listed = async (state: string) => (await api.get(`/${projectID}/execution_flows?state=${state}`)).body.data;
    await eventually(async () => expect(await listed('paused')).toMatchObject([{ execution_id: id }]));
    expect(await listed('waiting')).toEqual([]);
    expect(await decide(of.approver, approval, 'approve')).toMatchObject({ status: 200, body: { status: 'approved' } });
    expect(of.seen()).toBe(0);
    await moveExecution(of.workspace, id, 'resume');
    await untilExecution(of.workspace, id, 'completed');
    expect(of.seen()).toBe(1);
  });

  test.concurrent('does not keep the approval of a run that is then cancelled', async () => {
    verifies('act.cancel');
    const of = await governed(ask);
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    await pausedWith(of, id, approval);
    await moveExecution(of.workspace, id, 'cancel');
    expect(await closedAs(deps, id)).toBe('CANCELLED');
    await eventually(async () => expect(await approvalOf(of, approval)).toMatchObject({ status: 'rejected' }));
    expect(await decide(of.approver, approval, 'approve')).toMatchObject({ status: 409 });
    expect(of.seen()).toBe(0);
  });
});

describe('a run whose act waits', () => {
  test('reads the approval once after a signal about a decision that nobody has made, and continues to wait', async () => {
    verifies('act.hold.asked-once');
    const of = await governed(ask);
    const id = await of.start('one');
    const approval = await heldApproval(of, id);
    await deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).signal(approvalSettledSignal, approval);
    const count = async () => (await lifecyclesOf(of)).length;
    // The first call, the attempt under the approval, and the call that is held again.
    await eventually(async () => expect(await count()).toBeGreaterThanOrEqual(3));
    const other = await of.start('two');
    await heldApproval(of, other);
    expect(await decide(of.approver, approval, 'approve')).toMatchObject({ status: 200 });
    await untilExecution(of.workspace, id, 'completed');
    expect(of.seen('one')).toBe(1);
    expect(await count()).toBe(5);
  });
});
