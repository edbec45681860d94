import { defineQuery, defineUpdate } from '@temporalio/workflow';

/** What clients and operators use to work with a `remember` workflow (design, Workflows). */
export const rememberType = 'remember';

/** One workflow for each memory. */
export function rememberWorkflowId(memoryId: string): string {
  return `memory/${memoryId}`;
}

export interface RememberInput {
  memory_id: string;
  project_id: string;
  organization_id: string;
  /** The number of parts of the text. */
  parts: number;
  /** Whether a person approves what was found before anything is written. */
  review: boolean;
}

export type MemoryStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'rejected';

export interface RememberState {
  phase: 'extracting' | 'waiting' | 'writing' | 'ended';
  /** Parts that were extracted and written. */
  extracted: number;
  written: number;
}

export interface MemoryDecision {
  decision: 'approve' | 'reject' | 'cancel';
  by: string;
}

export type MemoryEnd = Extract<MemoryStatus, 'completed' | 'failed' | 'cancelled' | 'rejected'>;

/** Returns the status after the decision. */
export const decideMemoryUpdate = defineUpdate<MemoryStatus, [MemoryDecision]>('decide');
export const rememberStateQuery = defineQuery<RememberState>('state');
