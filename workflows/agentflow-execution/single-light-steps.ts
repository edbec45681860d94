import { condition, proxyLocalActivities } from '@temporalio/workflow';
import { noteDuration, type LightCost, type LightSteps, type RunLight } from './light-steps.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';
import { runStep } from './run-step.js';
import { definitionOf, summaryOf, type StepActivities } from './steps/index.js';

/** Well below the time after which the worker prolongs the workflow task, 80 % of its time limit of 10 s. */
const limitMs = 1000;

/**
 * For runs that began before there were batches: their paths run their light steps one after the other, each as a local activity
 * of its own.
 */
export function createSingleLightSteps(
  input: AgentflowExecutionInput,
  state: ExecutionState,
  ended: (cost: LightCost) => void,
): LightSteps {
  let isRunning = false;
  const waiting: object[] = [];
  /** Only the first path wakes: to wake many takes longer than their steps. */
  const untilFirst = async (): Promise<void> => {
    const path = {};
    waiting.push(path);
    try {
      await condition(() => !isRunning && waiting[0] === path);
    } finally {
      waiting.splice(waiting.indexOf(path), 1);
    }
  };
  return {
    isOneRunning: () => isRunning,
    takes: () => !isRunning,
    untilEnd: () => (input.yields_locally ? untilFirst() : condition(() => !isRunning)),
    async run(path, step) {
      const startedAt = Date.now();
      const { kept } = state;
      isRunning = true;
      try {
        await runStep(input, state, path, step, runAlone);
      } finally {
        isRunning = false;
        const ms = Date.now() - startedAt;
        ended({ ms, characters: state.kept - kept });
        noteDuration(state, step, ms);
      }
    },
  };
}

const runAlone: RunLight = (step, run) => {
  const activities = proxyLocalActivities<StepActivities>({
    scheduleToCloseTimeout: limitMs,
    retry: { maximumAttempts: 1 },
    summary: summaryOf(step, run),
  });
  return definitionOf(step).run(activities, step, run);
};
