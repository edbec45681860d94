import { workflowInfo } from '@temporalio/workflow';

/** Whether to continue as new: the run's own limit is reached, or the server suggests it. */
export function historyIsFull({ max_history_events }: { max_history_events: number }): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= max_history_events;
}
