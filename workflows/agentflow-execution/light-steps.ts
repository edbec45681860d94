import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import { causeOf } from '../failure.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import type { PathState } from './path-state.js';
import type { StepResult, StepRun } from './steps/definition.js';
import { definitionOf, type Step } from './steps/index.js';

/** Runs a light step within the workflow task. */
export type RunLight = (step: Step, run: StepRun) => Promise<StepResult<unknown>>;

/** How the paths of a run run their light steps. */
export interface LightSteps {
  isOneRunning(): boolean;
  /** Whether a path may run its step now. Otherwise it waits until `untilEnd` resolves, and asks again. */
  takes(): boolean;
  untilEnd(): Promise<void>;
  run(path: PathState, step: Step): Promise<void>;
}

/** What light steps have cost the workflow task: their time, and the length of their results as JSON. */
export interface LightCost {
  ms: number;
  characters: number;
}

/** A step that took longer once is not light in this run. */
const lightMs = 250;

/**
 * A light step runs within the workflow task, so Temporal schedules and records no activity. Only one local activity runs at a
 * time: the order in which several end, and the time that the workflow sees, could differ in a replay. If the step fails for a
 * reason that may pass, or takes too long, it runs again as a regular activity.
 */
export function isLightStep(input: AgentflowExecutionInput, { slow_steps }: ExecutionState, step: Step): boolean {
  if (!input.light_steps || slow_steps?.includes(nodeOf(step))) return false;
  return definitionOf(step).isLight?.(step, input) === true;
}

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
