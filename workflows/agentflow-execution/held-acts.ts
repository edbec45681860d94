import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { approvalWorkflowId, startClockSignal, stopClockSignal } from '../approval/messages.js';
import { historyIsFull } from '../history.js';
import { epochSeconds } from '../time.js';
import { approvalSettledSignal } from './act-messages.js';
import type { AgentflowExecutionActivities } from './activities.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import type { PathState } from './path-state.js';
import { pathsOf } from './paths.js';
import type { StepRecord } from './step-record.js';
import { addEvent, isOver, shownPath } from './state.js';
import { endStep } from './step-records.js';
import { idempotencyKey, type StepRun } from './steps/definition.js';
import type { ActAwaitingApproval, AwaitedApproval } from './act-messages.js';
import { withdraw as withdrawQuestion } from './questions.js';

/**
 * A signal can arrive before the result of the step that requested the approval, so recent signals are remembered.
 * Those of approvals that paths wait for are remembered in any case.
 */
const maxRemembered = 20;
/** The time after the expiry at which the run reads the approval itself, in case the signal was lost. */
const graceSeconds = 30;

const activities = proxyActivities<Pick<AgentflowExecutionActivities, 'withdrawAct'>>({
  startToCloseTimeout: '10s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s', maximumAttempts: 10 },
  summary: 'withdraw what the step has asked',
});

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
  const requested_at = approval_id === read ? (path.held?.requested_at ?? at) : at;
  path.held = { ...held, expires_at, step_id, agent_id, requested_at };
  const shown = { step_id, name, expires_at, ...shownPath(path) };
  if (!held.is_question) addEvent(state, 'approval_requested', at, { ...shown, approval_id });
  else if (approval_id !== read) addEvent(state, 'question_asked', at, { ...shown, question_id: approval_id });
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
  path: PathState,
): Promise<void> {
  const { held } = path;
  if (!held) return;
  // Nobody else ends a question, so its end needs no time to arrive.
  const grace = held.is_question ? 0 : graceSeconds;
  const left = Math.max(0, held.expires_at + grace - epochSeconds());
  // A cancelled run no longer has `held`, and is interrupted by its scope.
  const isInterrupted = () =>
    isSettled(state.settled_approvals, held) || state.status === 'paused' || historyIsFull(input);
  try {
    const interrupted = await condition(isInterrupted, Math.ceil(left * 1000) + 1, {
      summary: held.is_question ? 'the question expires' : 'the approval expires',
    });
    if (!interrupted) state.settled_approvals = [...(state.settled_approvals ?? []), held.approval_id];
  } catch (error) {
    if (isCancellation(error)) await withdraw(state, path, held);
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
  const wasPaused = state.status === 'paused';
  try {
    if (held && state.status === 'paused' && !held.is_clock_stopped) {
      held.is_clock_stopped = true;
      await notifyApproval(held, stopClockSignal);
    }
    await condition(() => state.status !== 'paused' || historyIsFull(input));
  } catch (error) {
    if (held && isCancellation(error)) await withdraw(state, path, held);
    throw error;
  }
  if (held?.is_question && wasPaused && state.status === 'running' && !isSettled(state.settled_approvals, held)) {
    // The step writes the new end of the question.
    state.settled_approvals = [...(state.settled_approvals ?? []), held.approval_id];
  }
  if (!held?.is_clock_stopped || state.status === 'paused') return;
  // A cancelled run is no longer paused, and can get here before its scope is interrupted.
  if (isOver(state)) return withdraw(state, path, held);
  held.is_clock_stopped = false;
  await notifyApproval(held, startClockSignal);
}

/** Ignores an approval that has ended meanwhile. */
async function notifyApproval(
  { approval_id, is_question }: AwaitedApproval,
  signal: typeof stopClockSignal | typeof startClockSignal,
): Promise<void> {
  if (is_question) return;
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(approvalWorkflowId(approval_id))
      .signal(signal)
      .catch(() => undefined),
  );
}

/** Withdraws what a path waits for that has ended. */
export async function withdrawHeld(state: ExecutionState, path: PathState): Promise<void> {
  if (path.held) await withdraw(state, path, path.held);
}

async function withdraw(state: ExecutionState, path: PathState, held: ActAwaitingApproval): Promise<void> {
  const record = state.steps.findLast((step) => step.step_id === held.step_id);
  if (record?.status === 'waiting')
    endStep(state, record, { status: 'cancelled', attempts: record.attempts, at: epochSeconds(), error: 'cancelled' });
  path.held = null;
  // At the end of a run, the write of its record does this.
  if (!held.is_question || !isOver(state)) await withdrawRequest(held);
}

/**
 * Withdraws what the act of a step that was cancelled has asked people. The worker may have asked before it was lost. At the end
 * of a run, the write of its record does this.
 */
export async function withdrawAct({ input, state, path, stepId }: StepRun): Promise<void> {
  if (isOver(state)) return;
  if (path.held?.step_id === stepId) return withdrawRequest(path.held);
  const { project_id, execution_id } = input;
  const request = { project_id, execution_id, idempotency_key: idempotencyKey({ input, state, path, stepId }) };
  await CancellationScope.nonCancellable(() => activities.withdrawAct(request).catch(() => undefined));
}

/** Ends a request to people that nobody waits for. Ignores one that has ended meanwhile. */
export async function withdrawRequest({ approval_id, is_question }: AwaitedApproval): Promise<void> {
  if (is_question) return withdrawQuestion(approval_id);
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(approvalWorkflowId(approval_id))
      .cancel()
      .catch(() => undefined),
  );
}
