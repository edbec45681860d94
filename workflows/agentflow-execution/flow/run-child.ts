import { ApplicationFailure, CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { historyIsFull } from '../../history.js';
import { endChild, startRun, tellChild } from '../children.js';
import type { StartChildRequest } from '../child-messages.js';
import { pauseSignal, resumeSignal, type AgentPlan } from '../messages.js';
import type { ChildRun } from '../path-state.js';
import { runStep } from '../run-step.js';
import type { AgentflowCall } from '../steps/start-flow.js';
import type { FlowStepOf } from './flow-steps.js';
import type { FlowRun } from './flow-run.js';

type Run = Pick<FlowRun, 'input' | 'state' | 'path' | 'untilQuiet'>;

/** The run reads the end of a child after this time in any case, because a signal can be lost. */
const readAgain = '10 minutes';

/**
 * Starts the run of a `flow` step, or of the `call` of an agent, and waits for its end. Returns undefined if the run is paused, has to continue as new, or
 * waits for an approval to start the other one.
 * @throws ApplicationFailure with the code of the other run's failure
 */
export async function runChild(
  run: Run,
  step: FlowStepOf<'flow'>,
  call?: AgentflowCall,
): Promise<{ output: unknown } | undefined> {
  const { input, state, path, untilQuiet } = run;
  const agent = call && { agent: call.agent };
  try {
    if (!path.child)
      await runStep(input, state, path, { kind: 'startFlow', flow: step, ...agent, ...(call && { call }) });
    const { child } = path;
    if (!child) return undefined;
    await untilQuiet();
    if (child.request) {
      await startRun(state, child.request as StartChildRequest);
      delete child.request;
    }
    if (!step.wait) return end(path, { execution_id: child.execution_id });
    return await untilResult(run, { flow: step, ...agent }, child);
  } catch (error) {
    const isPrepared = path.child?.request !== undefined;
    if (isPrepared) await CancellationScope.nonCancellable(untilQuiet);
    if (input.leaves_nothing_open || (isCancellation(error) && !isPrepared)) await endChild(state, path);
    throw error;
  }
}

/** Waits for the end of the other run. Returns undefined and throws as `runChild`. */
async function untilResult(
  run: Run,
  of: { flow: FlowStepOf<'flow'>; agent?: AgentPlan },
  child: ChildRun,
): Promise<{ output: unknown } | undefined> {
  const { input, state, path, untilQuiet } = run;
  if (child.is_paused && state.status !== 'paused') {
    child.is_paused = false;
    await tellChild(child, resumeSignal);
  }
  for (;;) {
    await untilQuiet();
    if (!(await untilEnded(run, child))) return undefined;
    await untilQuiet();
    child.reads += 1;
    const { execution_id, reads: number } = child;
    await runStep(input, state, path, { kind: 'readFlow', ...of, execution_id, number });
    if (!child.end) continue;
    if ('output' in child.end) return end(path, child.end.output);
    const { code, message } = child.end.error;
    path.child = null;
    throw ApplicationFailure.nonRetryable(`the run ${execution_id} failed: ${message}`, code);
  }
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
