import { ApplicationFailure, condition, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import { historyIsFull } from '../history.js';
import { epochSeconds } from '../time.js';
import { detailsOf } from './details.js';
import { executionFailureOf } from './failure.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { nextStep, type Turn } from './next-step.js';
import { expirePreview, outputOf, requestPreview } from './previews.js';
import { runStep } from './run-step.js';
import { failOver, isOver, takeOutput } from './state.js';

export type Stop = 'done' | 'history is full';

/** Runs the flow to its end, or goes on once with the failover goal where a step fails for good. */
export async function runFlow(input: AgentflowExecutionInput, state: ExecutionState, changed: () => void): Promise<Stop> {
  try {
    return await runSteps(input, state, changed);
  } catch (error) {
    if (!input.failover || state.failover || isCancellation(error) || isOver(state)) throw error;
    failOver(state, executionFailureOf(error, state, epochSeconds()), input.failover.goal);
    changed();
    return runSteps(input, state, changed);
  }
}

async function runSteps(input: AgentflowExecutionInput, state: ExecutionState, changed: () => void): Promise<Stop> {
  for (let step = nextStep(input, state); step; step = nextStep(input, state)) {
    await condition(() => state.status !== 'paused' || historyIsFull(input));
    if (historyIsFull(input)) return 'history is full';
    if (isTurn(step)) await takeTurn(input, state, step);
    else await runStep(input, state, step);
    if (!state.current || (step.kind !== 'decision' && isWaiting(state))) changed();
    else setCurrentDetails(detailsOf(input, state));
  }
  await condition(() => state.status !== 'paused');
  return 'done';
}

const turns: ReadonlySet<string> = new Set<Turn['kind']>(['ask', 'decision', 'output', 'limit']);

function isTurn(step: { kind: string }): step is Turn {
  return turns.has(step.kind);
}

function isWaiting({ previews }: ExecutionState): boolean {
  return Object.values(previews).some(({ status }) => status === 'waiting');
}

async function takeTurn(input: AgentflowExecutionInput, state: ExecutionState, turn: Turn): Promise<void> {
  switch (turn.kind) {
    case 'limit':
      throw ApplicationFailure.nonRetryable(turn.message, 'limit_exceeded');
    case 'ask':
      return requestPreview(state, turn.agent, { previewId: turn.previewId, proposed: { output: turn.output } }, epochSeconds());
    case 'decision':
      return untilDecided(input, state, turn.agent._id);
    case 'output':
      return takeOutput(state, turn.agent, epochSeconds(), outputOf(state.previews[turn.agent._id]?.edits ?? null));
  }
}

/** Comes back early when the run is paused, whose clock then stands, or has to continue as new. */
async function untilDecided(input: AgentflowExecutionInput, state: ExecutionState, agentId: string): Promise<void> {
  const preview = state.previews[agentId];
  if (!preview) return;
  const isInterrupted = () => preview.status !== 'waiting' || state.status === 'paused' || historyIsFull(input);
  const left = preview.expires_at - epochSeconds();
  if (left > 0) await condition(isInterrupted, Math.ceil(left * 1000));
  if (isInterrupted()) return;
  expirePreview(state, preview, epochSeconds());
  throw ApplicationFailure.nonRetryable(`nobody decided on the preview of "${preview.title}" in time`, 'preview_expired');
}
