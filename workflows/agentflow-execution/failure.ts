import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { causeOf, messageOf } from '../failure.js';
import { endCodes, type ExecutionFailure, type ExecutionState } from './messages.js';
import { mainPathOf } from './paths.js';
import type { StepAttempt } from './step-record.js';

/** The failure that people see in the execution: the cause in the activity, not the SDK's wrapper. */
export function executionFailureOf(error: unknown, state: ExecutionState, at: number): ExecutionFailure {
  const code = codeOf(error);
  return {
    reason: (error instanceof ApplicationFailure && endCodes.find((one) => one === code)) || 'step_failed',
    code,
    message: tellingMessageOf(error),
    by: null,
    at,
    step_id: mainPathOf(state).failed_step_id,
  };
}

/** The attempts so far. Activities put them into the details of their failure, and into heartbeats in case the worker is lost. */
export function attemptDetailsOf(error: unknown): StepAttempt[] | undefined {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure) return toAttempts(cause.lastHeartbeatDetails);
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  return typeof details === 'object' && details !== null && 'attempt_details' in details
    ? toAttempts(details.attempt_details)
    : undefined;
}

function toAttempts(value: unknown): StepAttempt[] | undefined {
  return Array.isArray(value) && value.length > 0 ? (value as StepAttempt[]) : undefined;
}

/**
 * No worker took the step within its time limit, or the step only waited in a worker for the share of its organization.
 * The failure says nothing about what the step calls.
 */
export function wasNeverStarted(error: unknown): boolean {
  const cause = causeOf(error);
  if (!(error instanceof ActivityFailure && cause instanceof TimeoutFailure)) return false;
  const inQueue = cause.timeoutType === 'SCHEDULE_TO_START' || cause.timeoutType === 'SCHEDULE_TO_CLOSE';
  return (
    inQueue && (onlyWaited(cause.cause) || (cause.cause === undefined && cause.lastHeartbeatDetails === undefined))
  );
}

function onlyWaited(failure: unknown): boolean {
  const details: unknown = failure instanceof ApplicationFailure ? failure.details?.[0] : undefined;
  return typeof details === 'object' && details !== null && 'waited' in details;
}

const timeoutTexts: Record<NonNullable<TimeoutFailure['timeoutType']>, string> = {
  SCHEDULE_TO_START: 'no worker was available for the step in time',
  SCHEDULE_TO_CLOSE: 'the step did not succeed in time',
  START_TO_CLOSE: 'an attempt took too long',
  HEARTBEAT: 'the worker was lost during an attempt',
};

/** For a timeout, includes the failure of the previous attempt, which is more specific. */
export function stepMessageOf(error: unknown): string {
  const cause = causeOf(error);
  if (!(cause instanceof TimeoutFailure)) return messageOf(error);
  const text = cause.timeoutType ? timeoutTexts[cause.timeoutType] : cause.message;
  return cause.cause instanceof Error ? `${text}; before that: ${stepMessageOf(cause.cause)}` : text;
}

/**
 * The message for people. A timeout between two attempts has no cause, so the error of the last attempt is added. What the
 * flow itself reads has `stepMessageOf`.
 */
export function tellingMessageOf(error: unknown): string {
  const message = stepMessageOf(error);
  const cause = causeOf(error);
  if (!(cause instanceof TimeoutFailure) || cause.cause !== undefined) return message;
  const last = attemptDetailsOf(error)?.findLast((attempt) => attempt.error !== null)?.error;
  return last === undefined || last === null ? message : `${message}; before that: ${last}`;
}

export function attemptsOf(error: unknown): number {
  const cause = causeOf(error);
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  if (typeof details === 'object' && details !== null && 'attempt' in details && typeof details.attempt === 'number') {
    return details.attempt;
  }
  return attemptDetailsOf(error)?.at(-1)?.attempt ?? 1;
}

export function codeOf(error: unknown): string {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure) return 'timeout';
  return (cause instanceof ApplicationFailure && cause.type) || 'step_failed';
}
