import { defineUpdate } from '@temporalio/workflow';
import type { MoveResult } from './messages.js';
import type { PreviewEdits } from './preview-record.js';

export interface PreviewDecision {
  agent_id: string;
  /** The preview that was decided on. */
  preview_id: string;
  decision: 'approve' | 'reject';
  edits?: PreviewEdits | null;
  reason?: string;
  by: string;
}

/** Refused with type `not_found` (agent), `conflict` (no preview is waiting, or another one) or `invalid_request` (edits that do not fit). */
export const decidePreviewUpdate = defineUpdate<MoveResult, [PreviewDecision]>('decidePreview');
