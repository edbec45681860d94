import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { executionWorkflowId, type MoveResult } from '../../../../workflows/agentflow-execution/messages.js';
import { decidePreviewUpdate } from '../../../../workflows/agentflow-execution/preview-messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { presentStatus } from './moves.js';
import { readExecution } from './read.js';

const PreviewEdits = z
  .union([z.string().max(200_000), z.record(z.string(), z.unknown())])
  .meta({ description: 'For actions the inputs to change, by action id or call id; for an output the text in its place, or `{output}`.' });

export const NewPreviewDecision = z
  .strictObject({
    projectID: z.string().optional(),
    execution_id: z.string().optional(),
    agent_id: z.string(),
    decision: z.enum(['approve', 'reject']),
    edits: PreviewEdits.nullish(),
    reason: z.string().max(500).optional().meta({ description: 'Of a rejection: the message of the failure.' }),
  })
  .meta({ id: 'NewPreviewDecision', example: { agent_id: 'writer', decision: 'approve', edits: { send: { subject: 'Welcome' } } } });
export type NewPreviewDecision = z.infer<typeof NewPreviewDecision>;

/**
 * Decides on what an agent is about to do; the workflow alone says whether it waits for that.
 * @throws AppError `not_found` (execution, agent), `conflict` (nothing waits), `invalid_request` (edits that fit nothing)
 */
export async function decidePreview(
  deps: Deps,
  principal: Principal,
  executionId: string,
  { agent_id, decision, edits, reason }: Pick<NewPreviewDecision, 'agent_id' | 'decision' | 'edits' | 'reason'>,
): Promise<MoveResult> {
  const record = await readExecution(deps, principal, executionId);
  if (!record.plan.some(({ _id }) => _id === agent_id)) throw notFound('the agent');
  const request = { agent_id, decision, edits: edits ?? null, by: principal.userId, ...(reason !== undefined && { reason }) };
  try {
    return await deps.temporal.callWorker((client) =>
      client.workflow.getHandle(executionWorkflowId(executionId)).executeUpdate(decidePreviewUpdate, { args: [request] }),
    );
  } catch (error) {
    if (refusedFor(error) === 'invalid_request') throw new AppError('invalid_request', messageOf(error));
    if (error instanceof WorkflowUpdateFailedError || isWorkflowGone(error)) {
      const status = await presentStatus(deps, principal, executionId);
      throw new AppError('conflict', `the execution is ${status}: no preview of this agent waits for a decision`);
    }
    throw error;
  }
}

function refusedFor(error: unknown): string | null | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure ? cause.type : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : 'edits: fit nothing';
}
