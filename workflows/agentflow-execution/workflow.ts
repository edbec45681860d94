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
import { withPaths } from './earlier-state.js';
import { endChild, handleChildren, handleEndedChildren, notifyParent } from './children.js';
import { handleElicitations } from './elicitations.js';
import { executionFailureOf } from './failure.js';
import { handleApprovals } from './held-acts.js';
import { handleMoves, handlePreviews } from './handlers.js';
import {
  eventsQuery,
  stateQuery,
  type AgentflowExecutionInput,
  type ExecutionConclusion,
  type ExecutionState,
} from './messages.js';
import { handleEvents } from './flow/events.js';
import { pathsOf } from './paths.js';
import { handleQuestions } from './questions.js';
import { createProjectionWriter, type Change } from './projection.js';
import { runFlow } from './run-steps.js';
import { endTurn, handleTurn, needsTurn, untilTurn } from './turn.js';
import { addEvent, applyMove, conclude, fail, initialState, isOver } from './state.js';
import { indexedStatus } from './view.js';

const { cancelOwnRun } = proxyActivities<Pick<AgentflowExecutionActivities, 'cancelOwnRun'>>({
  startToCloseTimeout: '10s',
  heartbeatTimeout: '5s',
  summary: 'close the run as cancelled',
});

/**
 * Runs one agentflow from its first agent to its conclusion (design, Workflows). Closes as Completed with the
 * conclusion, as Failed with the code of the failed step as type, or as Canceled.
 */
export async function agentflowExecution(input: AgentflowExecutionInput): Promise<ExecutionConclusion> {
  const state = input.resumed ? withPaths(input.resumed, input) : initialState(epochSeconds(), input);
  const steps = new CancellationScope();
  const projection = createProjectionWriter(input, state);
  // Changed only when necessary, because the server writes each change of a search attribute to its visibility store.
  let indexed = (input.resumed ? undefined : input.status_indexed) ?? indexedStatus(state);
  // Before the handlers are set, so that messages that are already waiting reach an execution that has begun.
  const isNew = state.status === 'ready' && !needsTurn(input, state);
  if (isNew) begin(input, state);
  const changed = (change: Change = 'progress') => {
    setCurrentDetails(detailsOf(input, state));
    const value = indexedStatus(state);
    if (value !== indexed) upsertSearchAttributes([{ key: searchAttributes.agentflowStatus, value }]);
    indexed = value;
    projection.request(change);
  };

  setHandler(stateQuery, () => state, { description: 'The state, agents and steps of the run' });
  setHandler(eventsQuery, () => state.unpublished, { description: 'The events that the record does not have yet' });
  const execution = { input, state, steps, changed };
  handleMoves(execution, projection);
  handlePreviews(execution);
  handleApprovals(state);
  handleElicitations(state, changed);
  handleQuestions(input, state, changed);
  handleChildren(state, changed);
  handleTurn(input, state);
  handleEvents(input, state, changed);
  handleEndedChildren(state);

  if (isNew) changed();
  else setCurrentDetails(detailsOf(input, state));
  let isContinued = false;
  try {
    isContinued =
      !isOver(state) &&
      (await steps.run(() => runInTurn(input, state, { changed, isWritingAlone: projection.isWritingAlone }))) ===
        'history is full';
    if (isContinued) {
      await projection.drain();
      await condition(allHandlersFinished);
    } else if (!isOver(state)) conclude(state, epochSeconds());
  } catch (error) {
    // The first reason for the end takes precedence: a step can also fail after a cancel.
    if (!isOver(state)) endWith(error, state);
  }
  if (isContinued && !isOver(state)) return continueAsNew<typeof agentflowExecution>({ ...input, resumed: state });
  if (input.leaves_nothing_open) for (const path of pathsOf(state)) await endChild(state, path);
  changed();
  // A request to start a child is answered before the run closes.
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  await CancellationScope.nonCancellable(() => projection.drain());
  await notifyParent(input);
  await endTurn(input, state);
  return close(state);
}

function begin(input: AgentflowExecutionInput, state: ExecutionState): void {
  if (input.cancelled) return applyMove(state, 'cancel', input.cancelled, epochSeconds());
  state.status = 'running';
  if (state.turn) state.started_at = epochSeconds();
  addEvent(state, 'started', epochSeconds(), { goal: input.goal });
}

/** A run that needs a turn begins when it has it. */
async function runInTurn(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  writing: Parameters<typeof runFlow>[2],
): ReturnType<typeof runFlow> {
  if (needsTurn(input, state)) {
    if ((await untilTurn(input, state, writing)) === 'history is full') return 'history is full';
    if (isOver(state)) return 'done';
    begin(input, state);
    if (state.turn?.pause_asked) applyMove(state, 'pause', state.turn.pause_asked, epochSeconds());
    writing.changed();
  }
  return runFlow(input, state, writing);
}

/** A cancellation that is not one of our moves was requested in Temporal, for example with the Cancel button of its UI. */
function endWith(error: unknown, state: ExecutionState): void {
  if (isCancellation(error)) applyMove(state, 'cancel', { by: 'operator' }, epochSeconds());
  else fail(state, executionFailureOf(error, state, epochSeconds()));
}

/** Ends the workflow so that the Temporal UI shows the execution's outcome as Completed, Failed or Canceled. */
async function close(state: ExecutionState): Promise<ExecutionConclusion> {
  if (state.conclusion) return state.conclusion;
  if (state.failure?.reason !== 'cancelled') {
    throw ApplicationFailure.nonRetryable(
      state.failure?.message ?? 'the execution failed',
      state.failure?.code ?? 'step_failed',
    );
  }
  // Only a run with a cancel request may close as Canceled, and the server accepts that request only from outside the run.
  const root = CancellationScope.current();
  if (!root.consideredCancelled) {
    await CancellationScope.nonCancellable(() => cancelOwnRun());
    await root.cancelRequested;
  }
  throw new CancelledFailure('the execution was cancelled');
}
