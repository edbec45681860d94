import { workflowInfo } from '@temporalio/workflow';
import type { AgentflowExecutionInput } from './messages.js';

export function historyIsFull(input: Pick<AgentflowExecutionInput, 'max_history_events'>): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= input.max_history_events;
}
