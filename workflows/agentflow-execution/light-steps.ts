import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  isCancellation,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import { causeOf } from '../failure.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { definitionOf, type Step } from './steps/index.js';

/** A step that took longer once is not light in this run. */
const lightMs = 250;

/** Well below the time after which the worker prolongs the workflow task, 80 % of its time limit of 10 s. */
const limitMs = 1000;

/**
 * A light step runs within the workflow task, so Temporal schedules and records no activity. Only one runs at a time: the order
 * in which several end, and the time that the workflow sees, could differ in a replay. If it fails for a reason that may pass, or
 * takes too long, it runs again as a regular activity.
 */
export const localProfile: LocalActivityOptions = { scheduleToCloseTimeout: limitMs, retry: { maximumAttempts: 1 } };

export function isLightStep(input: AgentflowExecutionInput, { slow_steps }: ExecutionState, step: Step): boolean {
  if (!input.light_steps || slow_steps?.includes(nodeOf(step))) return false;
  return definitionOf(step).isLight?.(step, input) === true;
}

/** Lets the paths of a run run their light steps one after the other. */
export function createLightSteps(input: AgentflowExecutionInput) {
  let isRunning = false;
  const waiting: object[] = [];
  /** Only the first path wakes: to wake many takes longer than their steps. */
  const untilFirst = async (): Promise<void> => {
    const path = {};
    waiting.push(path);
    try {
      await condition(() => !isRunning && waiting[0] === path);
    } finally {
      waiting.splice(waiting.indexOf(path), 1);
    }
  };
  return {
    isOneRunning: () => isRunning,
    begin: () => void (isRunning = true),
    end: () => void (isRunning = false),
    /** Waits until a path may run its step. */
    untilNext: (): Promise<void> => (input.yields_locally ? untilFirst() : condition(() => !isRunning)),
  };
}

/** Remembers a step that was not light, so that it runs as a regular activity from now on. */
export function noteDuration(state: ExecutionState, step: Step, ms: number): void {
  if (ms > lightMs) (state.slow_steps ??= []).push(nodeOf(step));
}

/** The agent or the step of the flow, on all paths. */
function nodeOf(step: Step): string {
  return `${step.kind}/${'agent' in step && step.agent ? step.agent._id : definitionOf(step).id(step)}`;
}

/** Whether a regular activity would fail in the same way. */
export function isFinal(error: unknown): boolean {
  const cause = causeOf(error);
  return isCancellation(error) || (cause instanceof ApplicationFailure && cause.nonRetryable === true);
}

/** Temporal's SDK wraps the failures of regular activities only. */
export function failureOfActivity(error: unknown, activity: string): unknown {
  if (!(error instanceof ApplicationFailure)) return error;
  return new ActivityFailure(error.message, activity, undefined, 'NON_RETRYABLE_FAILURE', undefined, error);
}
