import {
  ApplicationFailure,
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
} from '@temporalio/workflow';
import { historyIsFull } from '../../history.js';
import { startRun } from '../children.js';
import type { StartChildRequest } from '../child-messages.js';
import { cancelSignal, executionWorkflowId, pauseSignal, resumeSignal } from '../messages.js';
import type { ChildRun } from '../path-state.js';
import { runStep } from '../run-step.js';
import type { FlowStepOf } from './flow-steps.js';
import type { FlowRun } from './flow-run.js';

type Run = Pick<FlowRun, 'input' | 'state' | 'path' | 'untilQuiet'>;

/** The run reads the end of a child after this time in any case, because a signal can be lost. */
const readAgain = '10 minutes';

/**
 * Starts the run of a `flow` step and waits for its end. Returns undefined if the run is paused, has to continue as new, or
 * waits for an approval to start the other one.
 * @throws ApplicationFailure with the code of the other run's failure
 */
export async function runChild(run: Run, step: FlowStepOf<'flow'>): Promise<{ output: unknown } | undefined> {
  const { input, state, path } = run;
  if (!path.child) await runStep(input, state, path, { kind: 'startFlow', flow: step });
  const { child } = path;
  if (!child) return undefined;
  await run.untilQuiet();
  if (child.request) {
    await startRun(state, child.request as StartChildRequest);
    delete child.request;
  }
  if (!step.wait) return end(path, { execution_id: child.execution_id });
  try {
    return await untilResult(run, step, child);
  } catch (error) {
    if (isCancellation(error)) await tell(child, cancelSignal);
    throw error;
  }
}

/** Waits for the end of the other run. Returns undefined and throws as `runChild`. */
async function untilResult(
  run: Run,
  step: FlowStepOf<'flow'>,
  child: ChildRun,
): Promise<{ output: unknown } | undefined> {
  const { input, state, path, untilQuiet } = run;
  if (child.is_paused && state.status !== 'paused') {
    child.is_paused = false;
    await tell(child, resumeSignal);
  }
  for (;;) {
    await untilQuiet();
    if (!(await untilEnded(run, child))) return undefined;
    await untilQuiet();
    child.reads += 1;
    const { execution_id, reads: number } = child;
    await runStep(input, state, path, { kind: 'readFlow', flow: step, execution_id, number });
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
    await tell(child, pauseSignal);
  }
  if (isInterrupted()) return false;
  if (state.ended_children) state.ended_children = state.ended_children.filter((id) => id !== execution_id);
  return true;
}

/** Ignores a run that has ended meanwhile. */
async function tell({ execution_id }: ChildRun, signal: typeof pauseSignal): Promise<void> {
  await CancellationScope.nonCancellable(() =>
    getExternalWorkflowHandle(executionWorkflowId(execution_id))
      .signal(signal, { by: 'service', reason: 'with the run that started it' })
      .catch(() => undefined),
  );
}
