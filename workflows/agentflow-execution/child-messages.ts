import { defineUpdate } from '@temporalio/workflow';
import type { AttributeValues } from '../search-attributes.js';
import type { AgentflowExecutionInput } from './messages.js';

export interface StartChildRequest {
  input: AgentflowExecutionInput;
  taskQueue: string;
  memo: Record<string, unknown>;
  staticSummary: string;
  attributes: AttributeValues;
}

/** False when the execution was started before. Refused with type `conflict` by a run that is over. */
export const startChildUpdate = defineUpdate<boolean, [StartChildRequest]>('startChild');
