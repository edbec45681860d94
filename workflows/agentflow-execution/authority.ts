import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { causeOf, messageOf } from '../failure.js';
import { codeOf } from './failure.js';
import type { ExecutionState } from './messages.js';
import type { PathState } from './path-state.js';
import { applyMove, isOver } from './state.js';
import type { StepRecord } from './step-record.js';

/** The type of the failure of a step whose person has no role that permits it. The step has had no effect. */
export const noAuthority = 'no_authority';

/** The detail of a failure that ends the whole run. Without it, a run without authority is paused. */
export const endsRun = { ends_run: true } as const;

/** Whether the failure has this detail. */
export function isOfRun(error: unknown): boolean {
  const cause = causeOf(error);
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  return typeof details === 'object' && details !== null && 'ends_run' in details;
}

/** Whether the step failed because its person has no role that permits it, and the run is to be paused. */
export function holdsRun(error: unknown): error is ActivityFailure {
  return error instanceof ActivityFailure && codeOf(error) === noAuthority && !isOfRun(error);
}

/** Pauses the run before the step, which runs again after somebody has resumed the run. */
export function holdRun(
  { state, path, record }: { state: ExecutionState; path: PathState; record: StepRecord },
  error: ActivityFailure,
  at: number,
): void {
  if (isOver(state)) return;
  record.status = 'waiting';
  // The step reads the decision on its act again.
  if (path.held) state.settled_approvals = [...(state.settled_approvals ?? []), path.held.approval_id];
  if (state.status === 'running') applyMove(state, 'pause', { by: 'service', reason: messageOf(error) }, at);
}
