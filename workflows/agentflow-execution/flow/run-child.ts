import { ApplicationFailure, CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { historyIsFull } from '../../history.js';
import { endChild, startRun, tellChild } from '../children.js';
import type { StartChildRequest } from '../child-messages.js';
import { pauseSignal, resumeSignal } from '../messages.js';
import type { ChildEnd, ChildRun } from '../path-state.js';
import { runStep } from '../run-step.js';
import type { Step } from '../steps/index.js';
import type { AgentflowCall } from '../steps/start-flow.js';
import type { FlowStepOf } from './flow-steps.js';
import type { FlowRun } from './flow-run.js';

type Run = Pick<FlowRun, 'input' | 'state' | 'path' | 'untilQuiet'>;

/** The run reads the end of a child after this time in any case, because a signal can be lost. */
const readAgain = '10 minutes';

/** The steps with which a path starts a run and reads how it has ended. */
export interface ChildSteps {
  start: Step;
  read: (executionId: string, number: number) => Step;
  /** Whether the path waits for the end of the run. */
  waits: boolean;
  /** What the path fails with if the run has failed. */
  failureOf: (executionId: string, error: ChildError) => ApplicationFailure;
}

type ChildError = Extract<ChildEnd, { error: unknown }>['error'];

/** The steps of a `flow` step, or of the `call` of an agent. */
export function stepsOfFlow(flow: FlowStepOf<'flow'>, call?: AgentflowCall): ChildSteps {
  const agent = call && { agent: call.agent };
  return {
    start: { kind: 'startFlow', flow, ...agent, ...(call && { call }) },
    read: (execution_id, number) => ({ kind: 'readFlow', flow, ...agent, execution_id, number }),
    waits: flow.wait,
    failureOf: (executionId, { code, message }) =>
      ApplicationFailure.nonRetryable(`the run ${executionId} failed: ${message}`, code),
  };
}

/**
 * Starts another run, and waits for its end. Returns undefined if the run is paused, has to continue as new, or
 * waits for an approval to start the other one.
 * @throws ApplicationFailure that tells the failure of the other run
 */
export async function runChild(run: Run, steps: ChildSteps): Promise<{ output: unknown } | undefined> {
  const { input, state, path, untilQuiet } = run;
  try {
    if (!path.child) await runStep(input, state, path, steps.start);
    const { child } = path;
    if (!child) return undefined;
    await untilQuiet();
    if (child.request) {
      await startRun(state, child.request as StartChildRequest);
      delete child.request;
    }
    if (!steps.waits) return end(path, { execution_id: child.execution_id });
    return await untilResult(run, steps, child);
  } catch (error) {
    const isPrepared = path.child?.request !== undefined;
    if (isPrepared) await CancellationScope.nonCancellable(untilQuiet);
    if (input.leaves_nothing_open || (isCancellation(error) && !isPrepared)) await endChild(state, path);
    throw error;
  }
}

/** Waits for the end of the other run. Returns undefined and throws as `runChild`. */
async function untilResult(run: Run, steps: ChildSteps, child: ChildRun): Promise<{ output: unknown } | undefined> {
  const { input, state, path, untilQuiet } = run;
  if (child.is_paused && state.status !== 'paused') {
    child.is_paused = false;
    await tellChild(child, resumeSignal);
  }
  while (!child.end) {
    await untilQuiet();
    if (!(await untilEnded(run, child))) return undefined;
    await untilQuiet();
    child.reads += 1;
    await runStep(input, state, path, steps.read(child.execution_id, child.reads));
  }
  if ('output' in child.end) return end(path, child.end.output);
  path.child = null;
  throw steps.failureOf(child.execution_id, child.end.error);
}

function end(path: FlowRun['path'], output: unknown): { output: unknown } {
  path.child = null;
  return { output };
}

/** Returns false if the run is paused, and the child with it, or has to continue as new. */
async function untilEnded({ input, state, untilQuiet }: Run, child: ChildRun): Promise<boolean> {
  const { execution_id } = child;
  const isInterrupted = () => state.status === 'paused' || historyIsFull(input);
  const hasEnded = () => state.ended_children?.includes(execution_id) === true;
  await condition(() => hasEnded() || isInterrupted(), readAgain, { summary: 'the run of the flow is read again' });
  if (state.status === 'paused' && !child.is_paused) {
    child.is_paused = true;
    await untilQuiet();
    await tellChild(child, pauseSignal);
  }
  if (isInterrupted()) return false;
  if (state.ended_children) state.ended_children = state.ended_children.filter((id) => id !== execution_id);
  return true;
}
