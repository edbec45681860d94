import { RetryState } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { causeOf, messageOf } from '../failure.js';
import { endCodes, type ExecutionFailure, type ExecutionState } from './messages.js';

/** Of one step. */
export const attemptsAtMost = 5;

/** What an error of a step says to the people who look at the execution: the activity's cause, not its wrapper. */
export function executionFailureOf(error: unknown, state: ExecutionState, at: number): ExecutionFailure {
  const code = codeOf(error);
  const last = state.steps.at(-1);
  return {
    reason: (error instanceof ApplicationFailure && endCodes.find((one) => one === code)) || 'step_failed',
    code,
    message: messageOf(error),
    by: null,
    at,
    // An earlier step that failed was told to a model, or is what the run went on after.
    step_id: last?.status === 'failed' ? last.step_id : null,
  };
}

/** Activities put the attempt into their failure's details; a timeout tells only that all attempts were used. */
export function attemptsOf(error: unknown): number {
  const cause = causeOf(error);
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  if (typeof details === 'object' && details !== null && 'attempt' in details && typeof details.attempt === 'number') {
    return details.attempt;
  }
  return error instanceof ActivityFailure && error.retryState === RetryState.MAXIMUM_ATTEMPTS_REACHED ? attemptsAtMost : 1;
}

export function codeOf(error: unknown): string {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure) return 'timeout';
  return (cause instanceof ApplicationFailure && cause.type) || 'step_failed';
}
