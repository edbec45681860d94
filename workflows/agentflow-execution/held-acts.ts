import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import { approvalWorkflowId } from '../approval/messages.js';
import { historyIsFull } from '../history.js';
import { epochSeconds } from '../time.js';
import { approvalSettledSignal, type AgentflowExecutionInput, type ExecutionState } from './messages.js';
import type { StepRecord } from './step-record.js';
import { addEvent } from './state.js';
import { endStep } from './step-records.js';
import type { Held } from './act-messages.js';

/** A signal can come before the result of the step that asked, so some are remembered. */
const maxRemembered = 20;
/** How long after the expiry the run looks for itself, in case it was not told. */
const graceSeconds = 30;

/** The run is told that an approval is settled. It reads the decision itself, because anybody can send a signal. */
export function handleApprovals(state: ExecutionState): void {
  setHandler(approvalSettledSignal, (approvalId: unknown) => {
    if (typeof approvalId !== 'string' || state.settled_approvals?.includes(approvalId)) return;
    state.settled_approvals = [...(state.settled_approvals ?? []), approvalId].slice(-maxRemembered);
  });
}

/** The step waits for a decision on its act. */
export function holdStep(state: ExecutionState, record: StepRecord, held: Held, at: number): void {
  record.status = 'waiting';
  state.held = { ...held, step_id: record.step_id, agent_id: record.agent_id, requested_at: at };
  const { approval_id, expires_at } = held;
  addEvent(state, 'approval_requested', at, { step_id: record.step_id, name: record.name, approval_id, expires_at });
}

/** Whether the run has to wait before its next step. */
export function isHeld({ held, settled_approvals }: ExecutionState): boolean {
  return held !== undefined && held !== null && !isSettled(settled_approvals, held);
}

function isSettled(settled: readonly string[] | undefined, { approval_id }: Held): boolean {
  return settled?.includes(approval_id) === true;
}

/** Returns early when the run is paused or has to continue as new. A cancelled run withdraws its request. */
export async function untilSettled(input: AgentflowExecutionInput, state: ExecutionState): Promise<void> {
  const { held } = state;
  if (!held) return;
  const left = Math.max(0, held.expires_at + graceSeconds - epochSeconds());
  // A cancelled run no longer has `held`, and is interrupted by its scope.
  const isInterrupted = () =>
    isSettled(state.settled_approvals, held) || state.status === 'paused' || historyIsFull(input);
  try {
    const interrupted = await condition(isInterrupted, Math.ceil(left * 1000) + 1);
    if (!interrupted) state.settled_approvals = [...(state.settled_approvals ?? []), held.approval_id];
  } catch (error) {
    if (isCancellation(error)) await withdraw(state, held);
    throw error;
  }
}

async function withdraw(state: ExecutionState, { approval_id, step_id }: Held & { step_id: string }): Promise<void> {
  const record = state.steps.findLast((step) => step.step_id === step_id);
  if (record?.status === 'waiting')
    endStep(state, record, { status: 'cancelled', attempts: record.attempts, at: epochSeconds(), error: 'cancelled' });
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(approvalWorkflowId(approval_id))
      .cancel()
      .catch(() => undefined),
  );
}
