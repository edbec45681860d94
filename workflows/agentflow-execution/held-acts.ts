import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import { approvalWorkflowId, startClockSignal, stopClockSignal } from '../approval/messages.js';
import { historyIsFull } from '../history.js';
import { epochSeconds } from '../time.js';
import { approvalSettledSignal } from './act-messages.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import type { PathState } from './path-state.js';
import { pathsOf } from './paths.js';
import type { StepRecord } from './step-record.js';
import { addEvent, isOver, shownPath } from './state.js';
import { endStep } from './step-records.js';
import type { AwaitedApproval } from './act-messages.js';

/**
 * A signal can arrive before the result of the step that requested the approval, so recent signals are remembered.
 * Those of approvals that paths wait for are remembered in any case.
 */
const maxRemembered = 20;
/** The time after the expiry at which the run reads the approval itself, in case the signal was lost. */
const graceSeconds = 30;

/** Notes that an approval is settled. The run then reads the decision itself, because anybody can send a signal. */
export function handleApprovals(state: ExecutionState): void {
  const remember = (approvalId: unknown) => {
    if (typeof approvalId !== 'string' || state.settled_approvals?.includes(approvalId)) return;
    const settled = [...(state.settled_approvals ?? []), approvalId];
    const awaited = new Set(pathsOf(state).map(({ held }) => held?.approval_id));
    state.settled_approvals = settled.filter((id, at) => awaited.has(id) || at >= settled.length - maxRemembered);
  };
  setHandler(approvalSettledSignal, remember, { description: 'An approval was decided: the run reads the decision' });
}

/**
 * Removes the note that the approval of the step is settled, because the step reads the decision now. Only a later
 * signal makes it read again.
 * @returns the approval that the step waited for; undefined if it did not wait
 */
export function beginReading(state: ExecutionState, { held }: PathState, stepId: string): string | undefined {
  const { settled_approvals } = state;
  if (held?.step_id !== stepId) return undefined;
  if (settled_approvals) state.settled_approvals = settled_approvals.filter((id) => id !== held.approval_id);
  return held.approval_id;
}

/** The step waits for a decision on its act. `read` is the approval that it has just read. */
export function holdStep(
  state: ExecutionState,
  path: PathState,
  record: StepRecord,
  { held, at, read }: { held: AwaitedApproval; at: number; read: string | undefined },
): void {
  record.status = 'waiting';
  const { approval_id } = held;
  // The step has just read this approval: nobody has decided yet.
  const expires_at = approval_id === read ? Math.max(held.expires_at, at) : held.expires_at;
  const { step_id, agent_id, name } = record;
  state.has_waited = true;
  path.held = { ...held, expires_at, step_id, agent_id, requested_at: at };
  addEvent(state, 'approval_requested', at, { step_id, name, approval_id, expires_at, ...shownPath(path) });
}

/** Whether the path has to wait before its next step. */
export function isHeld({ settled_approvals }: ExecutionState, { held }: PathState): boolean {
  return held !== null && !isSettled(settled_approvals, held);
}

function isSettled(settled: readonly string[] | undefined, { approval_id }: AwaitedApproval): boolean {
  return settled?.includes(approval_id) === true;
}

/**
 * Waits until the approval of the path is settled. Returns early when the run is paused or has to continue as new. A cancelled run
 * withdraws its request.
 */
export async function untilSettled(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  { held }: PathState,
): Promise<void> {
  if (!held) return;
  const left = Math.max(0, held.expires_at + graceSeconds - epochSeconds());
  // A cancelled run no longer has `held`, and is interrupted by its scope.
  const isInterrupted = () =>
    isSettled(state.settled_approvals, held) || state.status === 'paused' || historyIsFull(input);
  try {
    const interrupted = await condition(isInterrupted, Math.ceil(left * 1000) + 1, { summary: 'the approval expires' });
    if (!interrupted) state.settled_approvals = [...(state.settled_approvals ?? []), held.approval_id];
  } catch (error) {
    if (isCancellation(error)) await withdraw(state, held);
    throw error;
  }
}

/**
 * Waits while the run is paused. The clock of the approval that the run waits for is stopped during the pause. A run
 * that is cancelled meanwhile withdraws its request.
 */
export async function untilResumed(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  path: PathState,
): Promise<void> {
  const held = isHeld(state, path) ? path.held : undefined;
  try {
    if (held && state.status === 'paused' && !held.is_clock_stopped) {
      held.is_clock_stopped = true;
      await notifyApproval(held, stopClockSignal);
    }
    await condition(() => state.status !== 'paused' || historyIsFull(input));
  } catch (error) {
    if (held?.is_clock_stopped && isCancellation(error)) await withdraw(state, held);
    throw error;
  }
  if (!held?.is_clock_stopped || state.status === 'paused') return;
  // A cancelled run is no longer paused, and can get here before its scope is interrupted.
  if (isOver(state)) return withdraw(state, held);
  held.is_clock_stopped = false;
  await notifyApproval(held, startClockSignal);
}

/** Ignores an approval that has ended meanwhile. */
async function notifyApproval(
  { approval_id }: AwaitedApproval,
  signal: typeof stopClockSignal | typeof startClockSignal,
): Promise<void> {
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(approvalWorkflowId(approval_id))
      .signal(signal)
      .catch(() => undefined),
  );
}

async function withdraw(
  state: ExecutionState,
  { approval_id, step_id }: AwaitedApproval & { step_id: string },
): Promise<void> {
  const record = state.steps.findLast((step) => step.step_id === step_id);
  if (record?.status === 'waiting')
    endStep(state, record, { status: 'cancelled', attempts: record.attempts, at: epochSeconds(), error: 'cancelled' });
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(approvalWorkflowId(approval_id))
      .cancel()
      .catch(() => undefined),
  );
}
