import { ApplicationFailure, setHandler, type CancellationScope } from '@temporalio/workflow';
import { epochSeconds } from '../time.js';
import {
  cancelSignal,
  cancelUpdate,
  pauseSignal,
  pauseUpdate,
  resumeSignal,
  resumeUpdate,
  type AgentflowExecutionInput,
  type ExecutionState,
  type MoveRequest,
  type MoveResult,
} from './messages.js';
import { decidePreviewUpdate, type PreviewDecision } from './preview-messages.js';
import { applyDecision, decisionRefusal } from './previews.js';
import type { Change, ProjectionWriter } from './projection.js';
import { addEvent, applyMove, isOver, refusalOf, type Move } from './state.js';
import { askToPause, needsTurn } from './turn.js';

interface RunningExecution {
  input: AgentflowExecutionInput;
  state: ExecutionState;
  /** The scope of the steps: cancelled when the execution ends before its flow does. */
  steps: CancellationScope;
  changed: (change: Change) => void;
}

const moves = [
  { name: 'pause', description: 'Pause the run before its next step', update: pauseUpdate, signal: pauseSignal },
  { name: 'resume', description: 'Resume the paused run', update: resumeUpdate, signal: resumeSignal },
  { name: 'cancel', description: 'Cancel the run for good', update: cancelUpdate, signal: cancelSignal },
] as const;

export function handleMoves({ input, state, steps, changed }: RunningExecution, projection: ProjectionWriter): void {
  for (const { name, description, update, signal } of moves) {
    const move = (request: MoveRequest | undefined): MoveResult => {
      applyMove(state, name, request, epochSeconds());
      const isRecorded = request?.is_recorded_by_caller === true && name !== 'cancel';
      changed(isRecorded ? 'recorded' : 'person');
      if (name === 'cancel') steps.cancel();
      const result: MoveResult = { execution_id: input.execution_id, status: state.status };
      return isRecorded ? { ...result, seq: state.last_event_seq } : result;
    };
    setHandler<MoveResult, [MoveRequest], typeof update>(update, move, {
      description: `${description}. Refused if the state does not allow it`,
      validator: () => refuse(name, state),
    });
    const onSignal = (request: MoveRequest | undefined) => {
      if (refusalOf(name, state.status) === undefined) move(request);
      else if (name !== 'cancel' && isHeldByParent(input, state))
        askToPause(input, state, name === 'pause' ? (request ?? {}) : undefined);
      else recordIgnored(name, state, projection);
    };
    setHandler(signal, onSignal, { description: `${description}. Ignored if the state does not allow it` });
  }
}

/** Whether the run has not begun, and another one that waits for it passes its pauses on. */
function isHeldByParent(input: AgentflowExecutionInput, state: ExecutionState): boolean {
  return input.pauses_before_turn === true && input.notifies !== undefined && needsTurn(input, state);
}

/** @throws ApplicationFailure `conflict` if the state does not allow the move */
function refuse(name: Move, state: ExecutionState): void {
  const refusal = refusalOf(name, state.status);
  if (refusal !== undefined) throw ApplicationFailure.nonRetryable(refusal, 'conflict', { status: state.status });
}

function recordIgnored(signal: Move, state: ExecutionState, projection: ProjectionWriter): void {
  if (isOver(state)) return;
  addEvent(state, 'signal_ignored', epochSeconds(), { signal, status: state.status });
  projection.request('progress');
}

export function handlePreviews({ input, state, steps, changed }: RunningExecution): void {
  const decide = (request: PreviewDecision): MoveResult => {
    applyDecision(state, request, epochSeconds());
    changed('person');
    if (isOver(state)) steps.cancel();
    return { execution_id: input.execution_id, status: state.status };
  };
  setHandler<MoveResult, [PreviewDecision], typeof decidePreviewUpdate>(decidePreviewUpdate, decide, {
    description: 'Approve, edit or reject the preview that the run waits for',
    validator: (request) => {
      const refusal = decisionRefusal(input, state, request);
      if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.type, { status: state.status });
    },
  });
}
