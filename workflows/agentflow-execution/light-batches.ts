import { ApplicationFailure, CancellationScope, condition, proxyLocalActivities } from '@temporalio/workflow';
import type { AgentflowExecutionActivities } from './activities.js';
import { batchMs, maxBatchCharacters, type LightAnswer, type LightRequest } from './light-messages.js';
import { isLightStep, noteDuration, type LightCost, type LightSteps, type RunLight } from './light-steps.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { runStep } from './run-step.js';
import type { StepResult } from './steps/definition.js';
import { definitionOf, summaryOf, type Step, type StepActivities } from './steps/index.js';

/** The maximum number of steps of a batch. */
const maxSteps = 50;

/** The maximum number of steps that Temporal's UI names in the summary of a batch. */
const maxNamedSteps = 3;

/** How a step of a batch has ended, or why the whole batch has failed. */
type Outcome = LightAnswer | { ms: number; characters: number; error: unknown };

interface Item {
  request: LightRequest;
  summary: string;
  end: (outcome: Outcome) => void;
}

interface Options {
  /** Called after each batch. */
  ended: (cost: LightCost) => void;
  /** Resolves when a path may continue with a step that a batch has left. */
  untilNext: () => Promise<void>;
}

/**
 * Runs the light steps of all paths that are ready as one batch: one local activity, which answers them in order. Only one batch
 * runs at a time, and no other local activity. Paths that become ready meanwhile wait for its end.
 */
export function createLightBatches(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  { ended, untilNext }: Options,
): LightSteps {
  let items: Item[] = [];
  let characters = 0;
  let stage: 'free' | 'filling' | 'running' = 'free';
  let running: CancellationScope | undefined;
  const waiting: (() => void)[] = [];

  const runBatch = async (): Promise<void> => {
    await untilOthersAreReady();
    stage = 'running';
    const batch = items;
    const startedAt = Date.now();
    running = new CancellationScope();
    const outcomes = batch.length === 0 ? [] : await running.run(() => outcomesOf(batch));
    ended({ ms: Date.now() - startedAt, characters: outcomes.reduce((sum, each) => sum + each.characters, 0) });
    items = [];
    characters = 0;
    stage = 'free';
    running = undefined;
    delete state.runs_light_steps;
    for (const wake of waiting.splice(0)) wake();
    for (const [at, outcome] of outcomes.entries()) batch[at]?.end(outcome);
  };

  /** A step whose path was cancelled leaves the batch. */
  const leave = (item: Item): void => {
    items = items.filter((other) => other !== item);
    if (items.length === 0) running?.cancel();
  };

  const outcomeOf = ({ request, summary }: Pick<Item, 'request' | 'summary'>): Promise<Outcome> =>
    new Promise((end, cancel) => {
      const item = { request, summary, end };
      items.push(item);
      characters += JSON.stringify(request).length;
      CancellationScope.current().cancelRequested.catch((error: unknown) => {
        leave(item);
        cancel(error);
      });
      if (stage !== 'free') return;
      stage = 'filling';
      state.runs_light_steps = true;
      // The batch belongs to no path, so it is not cancelled with one.
      void CancellationScope.nonCancellable(runBatch);
    });

  const resultOf = async (step: Step, item: Pick<Item, 'request' | 'summary'>): Promise<StepResult<unknown>> => {
    for (;;) {
      const outcome = await outcomeOf(item);
      if ('is_left' in outcome) {
        await untilNext();
        if (isLightStep(input, state, step)) continue;
        throw tooSlow();
      }
      noteDuration(state, step, outcome.ms);
      if ('result' in outcome) return outcome.result;
      if ('failure' in outcome) throw ApplicationFailure.create(outcome.failure);
      throw 'error' in outcome ? outcome.error : tooSlow();
    }
  };

  const runLight: RunLight = (step, run) => {
    const definition = definitionOf(step);
    const { activity } = definition;
    const summary = summaryOf(step, run);
    // The step calls no other activity.
    const activities: unknown = {
      [activity]: (request: unknown) => resultOf(step, { request: { activity, request }, summary }),
    };
    return definition.run(activities as StepActivities, step, run);
  };

  return {
    isOneRunning: () => stage !== 'free',
    takes: () =>
      stage === 'free' || (stage === 'filling' && items.length < maxSteps && characters < maxBatchCharacters),
    untilEnd() {
      const woken = new Promise<void>((resolve) => waiting.push(resolve));
      return Promise.race([woken, CancellationScope.current().cancelRequested]);
    },
    run: (path, step) => runStep(input, state, path, step, runLight),
  };
}

async function outcomesOf(batch: readonly Item[]): Promise<Outcome[]> {
  const startedAt = Date.now();
  const { runLightSteps } = proxyLocalActivities<Pick<AgentflowExecutionActivities, 'runLightSteps'>>({
    // It ends by itself before this, unless its process stands still.
    scheduleToCloseTimeout: 3 * batchMs,
    retry: { maximumAttempts: 1 },
    summary: summaryOfBatch(batch),
  });
  try {
    return await runLightSteps(batch.map(({ request }) => request));
  } catch (error) {
    return batch.map(() => ({ ms: Date.now() - startedAt, characters: 0, error }));
  }
}

function summaryOfBatch(batch: readonly Item[]): string {
  const named = batch.slice(0, maxNamedSteps).map(({ summary }) => summary);
  const others = batch.length - named.length;
  return others === 0 ? named.join(', ') : `${named.join(', ')} and ${others} more light steps`;
}

/** The step runs as a regular activity. */
function tooSlow(): ApplicationFailure {
  return ApplicationFailure.retryable('the step takes too long', 'timeout');
}

/**
 * Resolves when all paths have gone as far as they can. The SDK evaluates a condition at once, and again when no path has anything
 * left to do.
 */
function untilOthersAreReady(): Promise<void> {
  let isFirst = true;
  return condition(() => {
    const wasFirst = isFirst;
    isFirst = false;
    return !wasFirst;
  });
}
