import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { executionWorkflowId, type MoveResult } from '../../../../workflows/agentflow-execution/messages.js';
import { outputOf } from '../../../../workflows/agentflow-execution/previews.js';
import { withOutputSchema } from '../../../../workflows/agentflow-execution/typed-outputs.js';
import { decidePreviewUpdate } from '../../../../workflows/agentflow-execution/preview-messages.js';
import { decidesOwn, requireDecider } from '../../../auth/decisions.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { AppError, notFound } from '../../../base/errors.js';
import { parseJsonOrUndefined } from '../../../base/json.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { updateOnce } from '../../../temporal/update-once.js';
import type { ExecutionDocument } from '../record.js';
import { askersOf } from '../rules.js';
import { noteShaper } from './shaped-by.js';
import { currentStatus } from './moves.js';
import { readExecution } from './read.js';

const PreviewEdits = z
  .union([z.string().max(200_000), z.record(z.string(), z.unknown())])
  .describe(
    'For actions: the changed inputs by action id or call id. For an output: the replacement text, or `{output}`.',
  );

export const NewPreviewDecision = z
  .strictObject({
    projectID: z.string().optional(),
    execution_id: z.string().optional(),
    agent_id: z.string(),
    preview_id: z
      .string()
      .describe(
        'The id of the reviewed preview, `previews[agent_id].preview_id`. If another preview waits by then, the decision is refused (409).',
      ),
    decision: z.enum(['approve', 'reject']),
    edits: PreviewEdits.nullish(),
    reason: z.string().max(500).optional().describe('For a rejection: the message of the failure.'),
  })
  .meta({
    id: 'PreviewDecisionInput',
    example: {
      agent_id: 'writer',
      preview_id: 'writer/preview',
      decision: 'approve',
      edits: { send: { subject: 'Welcome' } },
    },
  });
export type NewPreviewDecision = z.infer<typeof NewPreviewDecision>;

/**
 * Approves or rejects a preview through the workflow, which checks whether it is waiting. Idempotent by `updateId`.
 * @throws AppError `not_found` (execution, agent), `scope_denied` by `whyNotDecide`, `conflict` (the preview is not waiting), `invalid_request` (edits that do not apply)
 */
export async function decidePreview(
  deps: Deps,
  principal: Principal,
  executionId: string,
  { agent_id, preview_id, decision, edits, reason }: Omit<NewPreviewDecision, 'projectID' | 'execution_id'>,
  updateId: string,
): Promise<MoveResult> {
  const record = await readExecution(deps, principal, executionId);
  requireDecider(principal, 'preview', { askers: askersOf(record) });
  if (!record.plan.some(({ _id }) => _id === agent_id)) throw notFound('the agent');
  if (decision === 'approve') await requireTypedEdits(deps, record, { agent_id, preview_id, edits });
  if (edits !== undefined && edits !== null) await noteShaper(deps.mongo.collections, principal, executionId);
  const request = {
    agent_id,
    preview_id,
    decision,
    edits: edits ?? null,
    by: principal.userId,
    ...(reason !== undefined && { reason }),
  };
  try {
    return await updateOnce(deps.temporal, executionWorkflowId(executionId), decidePreviewUpdate, {
      args: [request],
      updateId,
    });
  } catch (error) {
    const refusal = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    if (refusal instanceof ApplicationFailure && (refusal.type === 'invalid_request' || refusal.type === 'conflict'))
      throw new AppError(refusal.type, refusal.message);
    if (error instanceof WorkflowUpdateFailedError || isWorkflowGone(error)) {
      const status = await currentStatus(deps, principal, executionId);
      throw new AppError('conflict', `the execution is ${status}: this agent has no preview that waits for a decision`);
    }
    throw error;
  }
}

/** @throws AppError `invalid_request` if a person's text for an output with a schema does not match the schema */
async function requireTypedEdits(
  { schemas }: Pick<Deps, 'schemas'>,
  { plan, flow, previews, organization_id: owner }: ExecutionDocument,
  { agent_id, preview_id, edits }: Pick<NewPreviewDecision, 'agent_id' | 'preview_id' | 'edits'>,
): Promise<void> {
  const text = outputOf(edits ?? null);
  const preview = Object.values(previews).find((each) => each.preview_id === preview_id);
  const agent = plan.find(({ _id }) => _id === agent_id);
  if (text === undefined || preview?.kind === 'actions' || !agent) return;
  const { output_schema: schema } = withOutputSchema(flow, { path: preview?.path ?? '' }, agent);
  if (!schema) return;
  const value = text.trim() === 'null' ? null : parseJsonOrUndefined(text);
  const problems =
    value === undefined
      ? ['edits: must be the text of a JSON value, because the output has a schema']
      : await schemas.problemsOfValue(schema, value, { name: 'edits', owner });
  if (problems.length > 0) throw new AppError('invalid_request', problems.join('; '));
}

/** The fact for rules on `execution.decide`. @throws AppError `not_found` */
export async function decidesOwnPreview(deps: Pick<Deps, 'mongo'>, principal: Principal, executionId: string) {
  return decidesOwn(
    principal,
    askersOf(await readExecution(deps, principal, executionId, ['executed_by', 'caused_by'])),
  );
}
