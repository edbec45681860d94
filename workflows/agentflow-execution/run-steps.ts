import { ApplicationFailure, condition, isCancellation } from '@temporalio/workflow';
import { historyIsFull } from '../history.js';
import { epochSeconds } from '../time.js';
import { noAuthority } from './authority.js';
import { codeOf, executionFailureOf } from './failure.js';
import { isHeld, untilResumed, untilSettled } from './held-acts.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { nextStep, type Transition } from './next-step.js';
import { expirePreview, outputOf, requestPreview } from './previews.js';
import type { Change } from './projection.js';
import { runStep } from './run-step.js';
import { failOver, isOver, takeOutput } from './state.js';
import { isStep } from './steps/index.js';
import { waitingPreview } from './view.js';

type Stop = 'done' | 'history is full';

/** How the flow lets its record be written. */
interface RecordWriting {
  changed: (change?: Change) => void;
  isWritingAlone: () => boolean;
}

/** Runs the flow to its end. If a step fails for good, runs it once more with the failover goal. */
export async function runFlow(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  { changed, isWritingAlone }: RecordWriting,
): Promise<Stop> {
  try {
    return await runSteps(input, state, { changed, isWritingAlone });
  } catch (error) {
    if (!input.failover || state.failover || isCancellation(error) || isOver(state)) throw error;
    if (codeOf(error) === noAuthority) throw error;
    failOver(state, executionFailureOf(error, state, epochSeconds()), input.failover.goal);
    changed();
    return runSteps(input, state, { changed, isWritingAlone });
  }
}

async function runSteps(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  { changed, isWritingAlone }: RecordWriting,
): Promise<Stop> {
  for (let next = nextStep(input, state); next; next = nextStep(input, state)) {
    if (state.status === 'paused' || isHeld(state)) await untilResumed(input, state);
    if (historyIsFull(input)) return 'history is full';
    if (isWritingAlone()) {
      await condition(() => !isWritingAlone());
      // A person may have paused it meanwhile.
      continue;
    }
    if (isHeld(state)) await untilSettled(input, state);
    else if (isStep(next)) await runStep(input, state, next);
    else await makeTransition(input, state, next);
    const asksPerson = (next.kind !== 'awaitDecision' && waitingPreview(state)) || isHeld(state);
    changed(asksPerson ? 'person' : 'progress');
  }
  await condition(() => state.status !== 'paused');
  return 'done';
}

async function makeTransition(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  transition: Transition,
): Promise<void> {
  const { agent } = transition;
  switch (transition.kind) {
    case 'stopAtLimit':
      throw ApplicationFailure.nonRetryable(transition.message, 'limit_exceeded');
    case 'stopAfterAnomaly':
      throw ApplicationFailure.nonRetryable(transition.message, transition.code);
    case 'requestPreview': {
      const { previewId, output } = transition;
      return requestPreview(state, agent, { previewId, proposed: { output } }, epochSeconds());
    }
    case 'awaitDecision':
      return untilDecided(input, state, agent._id);
    case 'takeOutput':
      return takeOutput(state, agent, epochSeconds(), outputOf(state.previews[agent._id]?.edits ?? null));
  }
}

/** Returns early when the run is paused, which stops the preview's clock, or has to continue as new. */
async function untilDecided(input: AgentflowExecutionInput, state: ExecutionState, agentId: string): Promise<void> {
  const preview = state.previews[agentId];
  if (!preview) return;
  const isInterrupted = () => preview.status !== 'waiting' || state.status === 'paused' || historyIsFull(input);
  const left = preview.expires_at - epochSeconds();
  if (left > 0) await condition(isInterrupted, Math.ceil(left * 1000), { summary: 'the preview expires' });
  if (isInterrupted()) return;
  expirePreview(state, preview, epochSeconds());
  throw ApplicationFailure.nonRetryable(
    `nobody decided on the preview of "${preview.title}" in time`,
    'preview_expired',
  );
}
