import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  isCancellation,
  proxyLocalActivities,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import { causeOf } from '../failure.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import type { StepResult, StepRun } from './steps/definition.js';
import { definitionOf, summaryOf, type Step, type StepActivities } from './steps/index.js';

/** Runs a light step within the workflow task. */
export type RunLight = (step: Step, run: StepRun) => Promise<StepResult<unknown>>;

/** A step that took longer once is not light in this run. */
const lightMs = 250;

/** Well below the time after which the worker prolongs the workflow task, 80 % of its time limit of 10 s. */
const limitMs = 1000;

const localProfile: LocalActivityOptions = { scheduleToCloseTimeout: limitMs, retry: { maximumAttempts: 1 } };

/**
 * A light step runs within the workflow task, so Temporal schedules and records no activity. Only one local activity runs at a
 * time: the order in which several end, and the time that the workflow sees, could differ in a replay. If the step fails for a
 * reason that may pass, or takes too long, it runs again as a regular activity.
 */
export function isLightStep(input: AgentflowExecutionInput, { slow_steps }: ExecutionState, step: Step): boolean {
  if (!input.light_steps || slow_steps?.includes(nodeOf(step))) return false;
  return definitionOf(step).isLight?.(step, input) === true;
}

/** For runs that began before there were batches: their paths run their light steps one after the other. */
export function createSingleLightSteps(input: AgentflowExecutionInput) {
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
    untilEnd: (): Promise<void> => (input.yields_locally ? untilFirst() : condition(() => !isRunning)),
  };
}

/** Runs a light step as a local activity of its own. */
export const runSingle: RunLight = (step, run) => {
  const activities = proxyLocalActivities<StepActivities>({ ...localProfile, summary: summaryOf(step, run) });
  return definitionOf(step).run(activities, step, run);
};

/** Remembers a step that was not light, so that it runs as a regular activity from now on. */
export function noteDuration(state: ExecutionState, step: Step, ms: number): void {
  if (ms <= lightMs) return;
  const node = nodeOf(step);
  const slow = (state.slow_steps ??= []);
  if (!slow.includes(node)) slow.push(node);
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
