import {
  CancellationScope,
  CancelledFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { searchAttributes } from '../search-attributes.js';
import { epochSeconds } from '../time.js';
import type { AgentflowExecutionActivities } from './activities.js';
import { detailsOf } from './details.js';
import { handleChildren } from './children.js';
import { executionFailureOf } from './failure.js';
import {
  cancelSignal,
  cancelUpdate,
  eventsQuery,
  pauseSignal,
  pauseUpdate,
  resumeSignal,
  resumeUpdate,
  stateQuery,
  type AgentflowExecutionInput,
  type ExecutionConclusion,
  type ExecutionState,
  type MoveRequest,
  type MoveResult,
} from './messages.js';
import { createProjectionWriter, type ProjectionWriter } from './projection.js';
import { decidePreviewUpdate, type PreviewDecision } from './preview-messages.js';
import { applyDecision, decisionRefusal } from './previews.js';
import { runFlow } from './run-steps.js';
import { addEvent, applyMove, conclude, fail, initialState, isOver, refusalOf, withDefaults, type Move } from './state.js';

const { cancelOwnRun } = proxyActivities<Pick<AgentflowExecutionActivities, 'cancelOwnRun'>>({
  startToCloseTimeout: '10s',
  summary: 'close the run as cancelled',
});

const moves = [
  { name: 'pause', update: pauseUpdate, signal: pauseSignal },
  { name: 'resume', update: resumeUpdate, signal: resumeSignal },
  { name: 'cancel', update: cancelUpdate, signal: cancelSignal },
] as const;

/**
 * Runs one agentflow from its first agent to its conclusion (design, Workflows). Closes as Completed with the
 * conclusion, as Failed with the failing step's code as type, or as Canceled.
 */
export async function agentflowExecution(input: AgentflowExecutionInput): Promise<ExecutionConclusion> {
  const state = input.resumed ? withDefaults(input.resumed) : initialState(epochSeconds(), input.kept_outputs);
  const steps = new CancellationScope();
  const projection = createProjectionWriter(input.execution_id, state);
  // Each change of a search attribute costs the server a write to its visibility store.
  let indexed = (input.resumed ? undefined : input.status_indexed) ?? state.status;
  // Before the handlers: what was sent meanwhile meets an execution that has begun.
  const isNew = state.status === 'ready';
  if (isNew) begin(input, state);
  const changed = () => {
    setCurrentDetails(detailsOf(input, state));
    if (state.status !== indexed) upsertSearchAttributes([{ key: searchAttributes.agentflowStatus, value: state.status }]);
    indexed = state.status;
    projection.request();
  };

  setHandler(stateQuery, () => state);
  setHandler(eventsQuery, () => state.unpublished);
  for (const { name, update, signal } of moves) {
    const move = (request: MoveRequest | undefined): MoveResult => {
      applyMove(state, name, request, epochSeconds());
      changed();
      if (name === 'cancel') steps.cancel();
      return { execution_id: input.execution_id, status: state.status };
    };
    setHandler<MoveResult, [MoveRequest], typeof update>(update, move, { validator: () => refuse(name, state) });
    setHandler(signal, (request) => {
      if (refusalOf(name, state.status) === undefined) move(request);
      else ignore(name, state, projection);
    });
  }

  handlePreviews(input, state, steps, changed);
  handleChildren(state, changed);

  if (isNew) changed();
  else setCurrentDetails(detailsOf(input, state));
  let goesOn = false;
  try {
    goesOn = !isOver(state) && (await steps.run(() => runFlow(input, state, changed))) === 'history is full';
    if (goesOn) {
      await projection.drain();
      await condition(allHandlersFinished);
    } else if (!isOver(state)) conclude(state, epochSeconds());
  } catch (error) {
    // What ended the run first stands: a step may fail on its way out after a cancel.
    if (!isOver(state)) endBy(error, state);
  }
  if (goesOn && !isOver(state)) return continueAsNew<typeof agentflowExecution>({ ...input, resumed: state });
  changed();
  // A child that is being started has its answer before the run closes.
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  await CancellationScope.nonCancellable(() => projection.drain());
  return close(state);
}

function handlePreviews(input: AgentflowExecutionInput, state: ExecutionState, steps: CancellationScope, changed: () => void): void {
  const decide = (request: PreviewDecision): MoveResult => {
    applyDecision(state, request, epochSeconds());
    changed();
    if (isOver(state)) steps.cancel();
    return { execution_id: input.execution_id, status: state.status };
  };
  setHandler<MoveResult, [PreviewDecision], typeof decidePreviewUpdate>(decidePreviewUpdate, decide, {
    validator: (request) => {
      const refusal = decisionRefusal(input, state, request);
      if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.type, { status: state.status });
    },
  });
}

function begin(input: AgentflowExecutionInput, state: ExecutionState): void {
  if (input.cancelled) return applyMove(state, 'cancel', input.cancelled, epochSeconds());
  state.status = 'running';
  addEvent(state, 'started', epochSeconds(), { goal: input.goal });
}

function ignore(signal: Move, state: ExecutionState, projection: ProjectionWriter): void {
  if (isOver(state)) return;
  addEvent(state, 'signal_ignored', epochSeconds(), { signal, status: state.status });
  projection.request();
}

/** A cancellation that is not a move of ours is Temporal's own request (the Cancel button of its UI). */
function endBy(error: unknown, state: ExecutionState): void {
  if (isCancellation(error)) applyMove(state, 'cancel', { by: 'operator' }, epochSeconds());
  else fail(state, executionFailureOf(error, state, epochSeconds()));
}

function refuse(name: Move, state: ExecutionState): void {
  const refusal = refusalOf(name, state.status);
  if (refusal !== undefined) throw ApplicationFailure.nonRetryable(refusal, 'conflict', { status: state.status });
}

/** The workflow's own end, so that the Temporal UI shows Completed, Failed or Canceled as the execution does. */
async function close(state: ExecutionState): Promise<ExecutionConclusion> {
  if (state.conclusion) return state.conclusion;
  if (state.failure?.reason !== 'cancelled') {
    throw ApplicationFailure.nonRetryable(state.failure?.message ?? 'the execution failed', state.failure?.code ?? 'step_failed');
  }
  // Only a run that Temporal was asked to cancel may close as Canceled, and the server refuses that from the run itself.
  const root = CancellationScope.current();
  if (!root.consideredCancelled) {
    await CancellationScope.nonCancellable(() => cancelOwnRun());
    await root.cancelRequested;
  }
  throw new CancelledFailure('the execution was cancelled');
}
