import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  proxyActivities,
  type ActivityOptions,
} from '@temporalio/workflow';
import { epochSeconds } from '../time.js';
import { holdRun, holdsRun, isOfRun, noAuthority } from './authority.js';
import { attemptDetailsOf, attemptsOf, codeOf, tellingMessageOf, wasNeverStarted } from './failure.js';
import { beginReading, holdStep, withdrawAct, withdrawRequest } from './held-acts.js';
import { failureOfActivity, isFinal, type RunLight } from './light-steps.js';
import type { PathState } from './path-state.js';
import { maxKeptCharacters, type AgentflowExecutionInput, type ExecutionState } from './messages.js';
import type { Spending } from './model-turn.js';
import { beginStep, endStep, recordEdits } from './step-records.js';
import { takeRoom } from './stored-size.js';
import type { StepResult, StepRun } from './steps/definition.js';
import { definitionOf, profileOf, summaryOf, type Step, type StepActivities } from './steps/index.js';

/**
 * Runs one step as one activity, and keeps its result in the state. Throws the activity's failure if it ends the run.
 * @param runLight for a light step
 */
export async function runStep(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  path: PathState,
  step: Step,
  runLight?: RunLight,
): Promise<void> {
  const definition = definitionOf(step);
  const record = beginStep(state, path, step, epochSeconds());
  const run: StepRun = { input, state, path, stepId: record.step_id };
  const read = beginReading(state, path, record.step_id);
  let refusal: ApplicationFailure | undefined;
  try {
    const { value, attempts, attempt_details, held, refused, edits } = await (runLight
      ? runLocally(runLight, step, run)
      : runUntilTaken(step, run));
    if (held && isCancelled()) {
      await withdrawRequest(held);
      throw cancelledPath();
    }
    if (held) return holdStep(state, path, record, { held, at: epochSeconds(), read });
    settleHeld(path);
    const spent = definition.spent?.(value);
    if (edits) recordEdits(state, record, edits, epochSeconds());
    const counted = definition.counted ? definition.counted(value) : value;
    countKept(state, edits ? [counted, edits] : counted, spent && { key: record.step_id, ...spent });
    const ended = refused
      ? ({ status: 'failed', error: `${refused.code}: ${refused.message}` } as const)
      : ({ status: 'completed' } as const);
    endStep(state, record, { ...ended, attempts, attempt_details, at: epochSeconds() });
    if (refused && definition.failsIfRefused?.(step)) {
      refusal = ApplicationFailure.nonRetryable(refused.message, refused.code);
      path.failed_step_id = record.step_id;
    } else definition.keep(value, step, edits ? { ...run, edits } : run);
  } catch (thrown) {
    if (holdsRun(thrown)) return holdRun({ state, path, record }, thrown, epochSeconds());
    const error = isMoot(input, thrown) ? cancelledPath() : thrown;
    if (isEndedAct(step, input) && isCancellation(error)) await withdrawAct(run);
    const status = isCancellation(error) ? 'cancelled' : 'failed';
    settleHeld(path);
    endStep(state, record, {
      status,
      attempts: attemptsOf(thrown),
      attempt_details: attemptDetailsOf(thrown),
      at: epochSeconds(),
      error: status === 'cancelled' ? status : tellingMessageOf(error),
    });
    const mayContinue = status !== 'cancelled' && error instanceof ActivityFailure && codeOf(error) !== noAuthority;
    if (!mayContinue || !definition.continueAfter) {
      if (status === 'failed') path.failed_step_id = record.step_id;
      throw error;
    }
    definition.continueAfter(error, step, run);
  }
  if (refusal) throw refusal;
  // What an act has done counts, but its path does not go on.
  if (isEndedAct(step, input) && isCancelled()) throw cancelledPath();
}

function isEndedAct(step: Step, { ends_acts }: AgentflowExecutionInput): boolean {
  return ends_acts === true && definitionOf(step).isAct === true;
}

/** A failure on a path that was cancelled does not fail the step around it. */
function isMoot({ ends_acts }: AgentflowExecutionInput, error: unknown): boolean {
  return ends_acts === true && isCancelled() && !isOfRun(error);
}

function cancelledPath(): CancelledFailure {
  return new CancelledFailure('the path was cancelled');
}

function settleHeld(path: PathState): void {
  path.held = null;
  path.elicitation = null;
}

async function runLocally(runLight: RunLight, step: Step, run: StepRun): Promise<StepResult<unknown>> {
  try {
    return await runLight(step, run);
  } catch (error) {
    if (isFinal(error)) throw failureOfActivity(error, definitionOf(step).activity);
    return runUntilTaken(step, run);
  }
}

/** The step's time limit does not count while no worker takes the step. */
async function runUntilTaken(step: Step, run: StepRun): Promise<StepResult<unknown>> {
  for (;;) {
    try {
      return await runOnce(step, run);
    } catch (error) {
      if (!wasNeverStarted(error)) throw error;
    }
  }
}

function runOnce(step: Step, run: StepRun): Promise<StepResult<unknown>> {
  const definition = definitionOf(step);
  const activities = proxyActivities<StepActivities>({
    // Heartbeats distinguish a killed worker from a slow server.
    heartbeatTimeout: '5s',
    ...repetition(run.input),
    ...profileOf(definition, step),
    ...(isEndedAct(step, run.input) && { cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED }),
    summary: summaryOf(step, run),
  });
  const isWhole = run.input.leaves_nothing_open && definition.beginsSomething;
  if (!isWhole || isCancelled()) return definition.run(activities, step, run);
  return CancellationScope.nonCancellable(() => definition.run(activities, step, run));
}

function isCancelled(): boolean {
  return CancellationScope.current().consideredCancelled;
}

/** Transient failures are retried for as long as the run allows; a refusal ends the step at once. */
function repetition({ step_patience_seconds }: AgentflowExecutionInput): ActivityOptions {
  return {
    scheduleToCloseTimeout: step_patience_seconds * 1000,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' },
  };
}

/** @throws ApplicationFailure if the run's state or its record would grow too large */
export function countKept(state: ExecutionState, value: unknown, spent: Spending | undefined): void {
  state.kept += JSON.stringify([value]).length;
  try {
    if (state.kept > maxKeptCharacters) throw tooMuch();
    takeRoom(state, value);
  } catch (error) {
    // The tokens were used even though the result is discarded.
    if (spent) state.spent.push(spent);
    throw error;
  }
}

function tooMuch(): ApplicationFailure {
  const message = `the documents, answers and outputs of this execution are larger than ${maxKeptCharacters} characters`;
  return ApplicationFailure.nonRetryable(message, 'validation_failed');
}
