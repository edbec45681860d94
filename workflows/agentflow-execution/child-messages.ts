import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AttributeValues } from '../search-attributes.js';
import type { AgentflowExecutionInput } from './messages.js';

export interface StartChildRequest {
  input: AgentflowExecutionInput;
  taskQueue: string;
  memo: Record<string, unknown>;
  staticSummary: string;
  staticDetails?: string;
  attributes: AttributeValues;
}

/** Sent by a run that another run waits for, after its record has its end. */
export const childEndedSignal = defineSignal<[string]>('childEnded');

/** Returns false if the execution was already started. Refused with type `conflict` by a run that has ended. */
export const startChildUpdate = defineUpdate<boolean, [StartChildRequest]>('startChild');
