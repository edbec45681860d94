import {
  CancellationScope,
  CancelledFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { searchAttributes } from '../search-attributes.js';
import { detailsOf } from './details.js';
import { failureOf } from './failure.js';
import {
  cancelSignal,
  cancelUpdate,
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
import { createProjectionWriter } from './projection.js';
import { runStep } from './run-step.js';
import { addEvent, applyMove, conclude, fail, initialState, isOver, nextStep, refusalOf, type Move } from './state.js';

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
  const state = input.resumed ?? initialState(now());
  const steps = new CancellationScope();
  const projection = createProjectionWriter(input.execution_id, state);
  const changed = () => {
    show(input, state);
    projection.request();
  };

  setHandler(stateQuery, () => state);
  for (const { name, update, signal } of moves) {
    const move = (request: MoveRequest | undefined): MoveResult => {
      applyMove(state, name, request, now());
      changed();
      if (name === 'cancel') steps.cancel();
      return { execution_id: input.execution_id, status: state.status };
    };
    setHandler<MoveResult, [MoveRequest], typeof update>(update, move, { validator: () => refuse(name, state) });
    setHandler(signal, (request) => {
      if (refusalOf(name, state.status) === undefined) move(request);
      else addEvent(state, 'signal_ignored', now(), { signal: name, status: state.status });
    });
  }

  if (state.status === 'ready') {
    state.status = 'running';
    addEvent(state, 'started', now(), { goal: input.goal });
    changed();
  }
  try {
    const end = await steps.run(() => runSteps(input, state, changed));
    if (end === 'history is full') {
      await projection.drain();
      await condition(allHandlersFinished);
      // A cancel that came meanwhile ends the run here instead.
      if (!isOver(state)) return await continueAsNew<typeof agentflowExecution>({ ...input, resumed: state });
    } else conclude(state, now());
  } catch (error) {
    if (!isCancellation(error)) fail(state, failureOf(error, state, now()));
    // Temporal's own cancel request (the UI's Cancel button) has not been noted as a move yet.
    else if (!isOver(state)) applyMove(state, 'cancel', { by: 'operator' }, now());
  }
  changed();
  await CancellationScope.nonCancellable(() => projection.drain());
  return close(state);
}

async function runSteps(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  changed: () => void,
): Promise<'done' | 'history is full'> {
  for (let step = nextStep(input, state); step; step = nextStep(input, state)) {
    await condition(() => state.status !== 'paused');
    if (historyIsFull(input)) return 'history is full';
    await runStep(input, state, step);
    if (!state.current) changed();
    else setCurrentDetails(detailsOf(input, state));
  }
  await condition(() => state.status !== 'paused');
  return 'done';
}

function historyIsFull(input: AgentflowExecutionInput): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= input.max_history_events;
}

function refuse(name: Move, state: ExecutionState): void {
  const refusal = refusalOf(name, state.status);
  if (refusal !== undefined) throw ApplicationFailure.nonRetryable(refusal, 'conflict', { status: state.status });
}

function show(input: AgentflowExecutionInput, state: ExecutionState): void {
  setCurrentDetails(detailsOf(input, state));
  upsertSearchAttributes([{ key: searchAttributes.agentflowStatus, value: state.status }]);
}

/** The workflow's own end, so that the Temporal UI shows Completed, Failed or Canceled as the execution does. */
async function close(state: ExecutionState): Promise<ExecutionConclusion> {
  if (state.conclusion) return state.conclusion;
  if (state.failure?.reason !== 'cancelled') {
    throw ApplicationFailure.nonRetryable(state.failure?.message ?? 'the execution failed', state.failure?.code ?? 'step_failed');
  }
  // Only a run whose cancellation was requested may close as Canceled: ask for it ourselves where a move cancelled.
  const root = CancellationScope.current();
  if (!root.consideredCancelled) {
    await getExternalWorkflowHandle(workflowInfo().workflowId).cancel();
    await root.cancelRequested;
  }
  throw new CancelledFailure('the execution was cancelled');
}

/** Epoch seconds of the workflow's own, replayed clock. */
function now(): number {
  return Date.now() / 1000;
}
