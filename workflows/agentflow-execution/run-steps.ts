import { ApplicationFailure, CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { historyIsFull } from '../history.js';
import { epochSeconds } from '../time.js';
import { charactersPerTask, createBreaks } from './breaks.js';
import { executionFailureOf } from './failure.js';
import { runAgentflowCall } from './flow/run-agentflow-call.js';
import { runFlowStep } from './flow/run-flow-step.js';
import { endsRun, type Stop } from './flow/run-parts.js';
import { runSlice } from './flow/run-slice.js';
import { isHeld, untilResumed, untilSettled } from './held-acts.js';
import { createLightBatches } from './light-batches.js';
import { isLightStep, type LightCost } from './light-steps.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { nextStep, type Transition } from './next-step.js';
import type { PathState } from './path-state.js';
import { mainPathOf } from './paths.js';
import { expirePreview, outputOf, previewOn, requestPreview } from './previews.js';
import type { Change } from './projection.js';
import { runReads } from './run-reads.js';
import { runStep } from './run-step.js';
import { createSingleLightSteps } from './single-light-steps.js';
import { failOver, isOver, takeAnswer, takeOutput } from './state.js';
import { isStep } from './steps/index.js';
import { takeRoom } from './stored-size.js';

/** How the flow lets its record be written. */
interface RecordWriting {
  changed: (change?: Change) => void;
  isWritingAlone: () => boolean;
}

/** Runs the flow to its end. If a step fails for good, runs it once more with the failover goal. */
export async function runFlow(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  writing: RecordWriting,
): Promise<Stop> {
  try {
    return await runMainPath(input, state, writing);
  } catch (error) {
    if (!input.failover || state.failover || isCancellation(error) || isOver(state)) throw error;
    if (endsRun(error, state)) throw error;
    failOver(state, executionFailureOf(error, state, epochSeconds()), input.failover);
    writing.changed();
    return runMainPath(input, state, writing);
  }
}

async function runMainPath(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  writing: RecordWriting,
): Promise<Stop> {
  const flow = createFlow(input, state, writing);
  const stop = await flow.runPath(mainPathOf(state));
  if (stop === 'done') await condition(() => state.status !== 'paused');
  return stop;
}

/**
 * The work after which a run begins a new workflow task, in steps of expressions. It takes some 50 ms, so a flow of one
 * organization does not keep a worker from the runs of others.
 */
const workPerTask = 100_000;
/** What a step of the flow costs besides its expressions. */
const workPerFlowStep = 2000;
/** What a millisecond of a light step costs: a new workflow task begins after half a second of them. */
const workPerLightMs = workPerTask / 500;
const workPerLightCharacter = workPerTask / charactersPerTask;

function createFlow(input: AgentflowExecutionInput, state: ExecutionState, writing: RecordWriting) {
  const { changed, isWritingAlone } = writing;
  let work = 0;
  let waiting: Promise<void> | undefined;
  const ended = ({ ms, characters }: LightCost) => {
    breaks.addCharacters(characters);
    work += ms * workPerLightMs + (input.yields_locally ? 0 : characters * workPerLightCharacter);
  };
  const lightSteps = input.batches_light_steps
    ? createLightBatches(input, state, { ended, untilNext: () => untilNextBatch() })
    : createSingleLightSteps(input, state, ended);
  const breaks = createBreaks(input, state, lightSteps.isOneRunning);

  /** All paths wait together. The wait belongs to none of them, so it is not cancelled with one. */
  const nextTask = (): Promise<void> => {
    waiting ??= CancellationScope.nonCancellable(async () => {
      await breaks.take();
      [work, waiting] = [0, undefined];
    });
    return waiting;
  };

  const isMuch = () => work > workPerTask || breaks.isTaskDue();

  const untilQuiet = () => condition(() => !isWritingAlone());

  /** The same waits as between two steps of a path. */
  const untilNextBatch = async (): Promise<void> => {
    for (;;) {
      if (state.status === 'paused') await condition(() => state.status !== 'paused');
      else if (isMuch()) await nextTask();
      else if (!lightSteps.takes()) await lightSteps.untilEnd();
      else return;
    }
  };

  const countWork = async (steps: number): Promise<void> => {
    work += steps;
    if (isMuch()) await nextTask();
  };

  /** Runs one path to its end: one thing after the other, each decided by `nextStep`. */
  async function runPath(path: PathState): Promise<Stop> {
    for (let next = nextStep(input, state, path); next; next = nextStep(input, state, path)) {
      if (state.status === 'paused' || isHeld(state, path)) await untilResumed(input, state, path);
      if (historyIsFull(input)) return 'history is full';
      if (isWritingAlone()) {
        await untilQuiet();
        // A person may have paused it meanwhile.
        continue;
      }
      if (isMuch()) {
        await nextTask();
        continue;
      }
      const light = isStep(next) && isLightStep(input, state, next) ? next : undefined;
      if (light && !lightSteps.takes()) {
        await lightSteps.untilEnd();
        continue;
      }
      if (isHeld(state, path)) await untilSettled(input, state, path);
      else if (next.kind === 'flowStep') {
        const own = { input, state, path, work: { steps: 0 } };
        const run = { ...own, runPath, untilQuiet, countWork, changed: () => changed() };
        // Counted before it runs, because many paths can begin a step at the same time.
        work += workPerFlowStep;
        const stop = await runFlowStep(run, next.step);
        work += run.work.steps;
        if (stop === 'history is full') return stop;
      } else if (next.kind === 'reads') {
        if ((await runReads({ state, path, runPath }, next)) === 'history is full') return 'history is full';
      } else if (next.kind === 'agentflowCall')
        await runAgentflowCall({ input, state, path, untilQuiet }, next.call, next.place);
      else if (next.kind === 'slice') await runSlice({ input, state, path, untilQuiet }, next.map, next.slice);
      else if (light) await lightSteps.run(path, light);
      else if (isStep(next)) await runStep(input, state, path, next);
      else await makeTransition(input, state, path, next);
      changed(asksPerson(state, path, next.kind) ? 'person' : 'progress');
    }
    return 'done';
  }

  return { runPath };
}

function asksPerson(state: ExecutionState, path: PathState, kind: string): boolean {
  const { current } = path;
  const preview = current ? previewOn(state, path, current.agent_id) : undefined;
  return (kind !== 'awaitDecision' && preview?.status === 'waiting') || isHeld(state, path);
}

async function makeTransition(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  path: PathState,
  transition: Transition,
): Promise<void> {
  const { agent } = transition;
  switch (transition.kind) {
    case 'stop':
      throw ApplicationFailure.nonRetryable(transition.message, transition.code);
    case 'requestPreview': {
      const { previewId, output } = transition;
      takeRoom(state, output);
      return requestPreview(state, path, agent, { previewId, proposed: { output }, at: epochSeconds() });
    }
    case 'awaitDecision':
      return untilDecided(input, state, path, agent._id);
    case 'takeAnswer':
      return takeAnswer(path, agent);
    case 'takeOutput': {
      const preview = previewOn(state, path, agent._id);
      return takeOutput(state, path, agent, epochSeconds(), outputOf(preview?.edits ?? null));
    }
  }
}

/** Returns early when the run is paused, which stops the preview's clock, or has to continue as new. */
async function untilDecided(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  path: PathState,
  agentId: string,
): Promise<void> {
  const preview = previewOn(state, path, agentId);
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
