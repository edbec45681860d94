import { condition, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { AgentflowExecutionActivities } from './activities.js';
import type { AgentflowExecutionInput, ExecutionState } from './messages.js';

/** Temporal refuses a workflow task whose results have more than 4 MB. */
export const charactersPerTask = 1_000_000;
/** Updates and signals reach the run in a new workflow task only. */
const breaksPerTask = 10;

const { giveWay } = proxyLocalActivities<Pick<AgentflowExecutionActivities, 'giveWay'>>({
  scheduleToCloseTimeout: '5s',
  retry: { maximumAttempts: 1 },
  summary: 'other runs go first',
});

/**
 * Interrupts the work of a run. A timer begins a new workflow task, but takes up to a second; a local activity only lets other runs
 * go first. Local activities run one at a time, like light steps.
 */
export function createBreaks(input: AgentflowExecutionInput, state: ExecutionState, isLightRunning: () => boolean) {
  let characters = 0;
  let breaks = 0;
  return {
    /** Counts the results of light steps. */
    addCharacters(count: number): void {
      characters += count;
    },
    /** Whether the results of light steps need a new workflow task. */
    isTaskDue: () => input.yields_locally === true && characters > charactersPerTask,
    async take(): Promise<void> {
      if (!input.yields_locally || characters > charactersPerTask || breaks >= breaksPerTask) {
        await sleep('1ms', { summary: 'a new workflow task' });
        [characters, breaks] = [0, 0];
        return;
      }
      await condition(() => !isLightRunning());
      state.is_giving_way = true;
      await giveWay().catch(() => undefined);
      delete state.is_giving_way;
      breaks += 1;
    },
  };
}
