import { CancellationScope, condition, proxyActivities, setHandler } from '@temporalio/workflow';
import { historyIsFull } from '../history.js';
import { epochSeconds } from '../time.js';
import type { AgentflowExecutionActivities } from './activities.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import type { ProjectionWriter } from './projection.js';
import { addEvent, isOver } from './state.js';
import { turnGivenSignal, type RunTurn, type TurnRequest } from './turn-messages.js';

const activities = proxyActivities<Pick<AgentflowExecutionActivities, 'takeRunTurn' | 'endRunTurn'>>({
  startToCloseTimeout: '30s',
  heartbeatTimeout: '5s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' },
  summary: 'the turn of the run',
});

/** A waiting run asks again after this time, in case the store with the queue was restored from a backup. */
const askAgain = '10 minutes';

/** Whether the run needs a turn and has not begun yet. */
export function needsTurn(input: AgentflowExecutionInput, state: ExecutionState): boolean {
  return input.turn !== undefined && input.cancelled === undefined && state.status === 'ready';
}

export function handleTurn(input: AgentflowExecutionInput, state: ExecutionState): void {
  if (!input.turn) return;
  setHandler(
    turnGivenSignal,
    () => {
      if (state.turn) state.turn.is_given = true;
    },
    { description: 'It is the turn of the run: it can begin' },
  );
}

/** Lets a run that waits for its turn begin paused, or not any more. */
export function askToPause(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  request: RunTurn['pause_asked'],
): void {
  turnOf(input, state).pause_asked = request;
}

function turnOf(input: AgentflowExecutionInput, state: ExecutionState): RunTurn {
  const blank = { key: input.turn?.key ?? null, is_given: false, is_asking: false, waiting_since: null };
  return (state.turn ??= blank);
}

/**
 * Waits until it is the turn of the run. Returns early if the run has ended meanwhile, or has to continue as new. No command is
 * made while the record is being written, like in `runSteps`.
 * @throws ActivityFailure `too_many_waiting`
 */
export async function untilTurn(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  { changed, isWritingAlone }: { changed: () => void } & Pick<ProjectionWriter, 'isWritingAlone'>,
): Promise<'history is full' | undefined> {
  const turn = turnOf(input, state);
  while (!turn.is_given && !isOver(state)) {
    await condition(() => !isWritingAlone());
    if (historyIsFull(input)) return 'history is full';
    const answer = await ask(input, turn);
    if (answer === 'given') turn.is_given = true;
    if (turn.is_given || isOver(state)) break;
    if (turn.waiting_since === null) {
      turn.waiting_since = epochSeconds();
      addEvent(state, 'turn_awaited', turn.waiting_since, { key: turn.key });
      changed();
      await condition(() => !isWritingAlone());
    }
    const isInterrupted = () => (turn.is_given || historyIsFull(input)) && !isWritingAlone();
    await condition(isInterrupted, askAgain, { summary: 'the run asks for its turn again' });
  }
  turn.waiting_since = null;
  return undefined;
}

/** Not cancelled, so that a run that ends meanwhile leaves the queue only after it has asked. */
async function ask(input: AgentflowExecutionInput, turn: RunTurn) {
  turn.is_asking = true;
  try {
    return await CancellationScope.nonCancellable(() => activities.takeRunTurn(requestOf(input)));
  } finally {
    turn.is_asking = false;
  }
}

/** Frees the turn of a run that has ended, or its place among those that wait. */
export async function endTurn(input: AgentflowExecutionInput, state: ExecutionState): Promise<void> {
  if (state.turn) await CancellationScope.nonCancellable(() => activities.endRunTurn(requestOf(input)));
}

function requestOf({ agentflow_id, execution_id, turn }: AgentflowExecutionInput): TurnRequest {
  return { agentflow_id, execution_id, key: turn?.key ?? null };
}
