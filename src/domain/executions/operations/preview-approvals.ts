import { z } from 'zod';
import { holdsGrant, type Principal } from '../../../auth/principal.js';
import { notFound } from '../../../errors.js';
import { payloadDigest } from '../../../governance/approvals/payload-digest.js';
import type { Approval } from '../../../governance/approvals/record.js';
import { previewRule } from '../../../governance/policy/default-rules.js';
import { listPage, type ListPosition, type ListQuery, type Page } from '../../../stores/lists.js';
import type { Deps } from '../../deps.js';
import { isOver, type ExecutionDocument } from '../record.js';
import { previewNamed } from '../rules.js';
import { readExecution } from './read.js';

type Preview = ExecutionDocument['previews'][string];

/** A preview in the form of an approval, with the proposal that its approvers decide on. */
interface PreviewApproval {
  approval: Approval;
  title: string;
  call: { agent_id: string; preview_id: string; goal: string; kind: Preview['kind']; proposed: unknown };
}

const tool = 'execution.preview';
const statusOf = {
  waiting: 'pending',
  approved: 'approved',
  edited: 'approved',
  rejected: 'rejected',
  expired: 'expired',
} as const;

export function toPreviewApproval(record: ExecutionDocument, preview: Preview, principal: Principal): PreviewApproval {
  const { agent_id, preview_id, kind, proposed, requested_at, expires_at, decided_by, decided_at } = preview;
  const payload_digest = payloadDigest(tool, { agent_id, preview_id, proposed });
  const isEdited = preview.status === 'edited';
  const status = preview.status === 'waiting' && isOver(record.status) ? 'expired' : statusOf[preview.status];
  const refusal = refusalToDecide(principal, status);
  return {
    approval: {
      approval_id: `${record._id}:${agent_id}:${Math.round(requested_at * 1000)}`,
      lifecycle_id: null,
      tool,
      requested_by: record.executed_by._id,
      reason: previewRule.description,
      policy_ids: [previewRule.policy_id],
      policy_version: 0,
      payload_digest,
      edited_payload_digest: isEdited ? payloadDigest(tool, { edited: payload_digest, edits: preview.edits }) : null,
      editable_fields: null,
      outcome_unknown: false,
      status,
      required_approvers: previewRule.approvers,
      approver_roles: null,
      votes: [],
      approvals_given: status === 'approved' ? 1 : 0,
      created_at: requested_at,
      expires_at,
      clock_stopped_at: null,
      decided_by,
      decided_at,
      used_at: null,
      used_by: null,
      execution_id: record._id,
      may_decide: refusal === null,
      may_not_decide_reason: refusal,
      has_payload: true,
    },
    title: `${record.agentflow.name}: ${preview.title}`,
    call: { agent_id, preview_id, goal: record.goal, kind, proposed },
  };
}

function refusalToDecide(principal: Principal, status: Approval['status']): string | null {
  if (!holdsGrant(principal, 'svc:orchestrate.write')) return 'deciding needs the grant svc:orchestrate.write';
  return status === 'pending' ? null : `the approval is ${status}`;
}

/** @throws AppError `not_found` for every id except that of the agent's latest preview */
export async function findPreview(deps: Deps, principal: Principal, id: string) {
  const { executionId, agentId } = previewNamed(id) ?? { executionId: '', agentId: '' };
  const record = await readExecution(deps, principal, executionId);
  const preview = Object.hasOwn(record.previews, agentId) ? record.previews[agentId] : undefined;
  // An answer to an earlier preview of the agent must not apply to its current one.
  const isNamed = preview && toPreviewApproval(record, preview, principal).approval.approval_id === id;
  if (!isNamed || !holdsGrant(principal, 'svc:orchestrate.read')) throw notFound('the approval');
  return { record, preview };
}

/** The previews that wait in the project, newest first. */
export async function waitingPreviews(
  { mongo }: Deps,
  principal: Principal,
  paging: ListQuery,
): Promise<Page<ListPosition & { item: PreviewApproval }>> {
  if (!holdsGrant(principal, 'svc:orchestrate.read')) return { data: [], total_count: 0, next_cursor: null };
  const waiting = {
    projectID: principal.projectId,
    'execution_context.waiting_for.kind': 'preview',
    status: { $in: ['running', 'paused'] as const },
  };
  const by = 'execution_context.waiting_for.requested_at';
  const page = await listPage(mongo.collections.executions, waiting as object, paging, by, shown);
  const data = page.data.flatMap((record) => {
    const { agent_id, requested_at = null } = Waiting.parse(record.execution_context.waiting_for);
    const preview = record.previews[agent_id];
    return preview ? [{ at: requested_at, id: record._id, item: toPreviewApproval(record, preview, principal) }] : [];
  });
  return { ...page, data };
}

/** What `toPreviewApproval` and the order of the list need. */
const shown = {
  status: 1,
  goal: 1,
  'agentflow.name': 1,
  executed_by: 1,
  previews: 1,
  'execution_context.waiting_for': 1,
};

/** Previews of a release that did not record the time are sorted last. */
const Waiting = z.object({ agent_id: z.string(), requested_at: z.number().nullish() });
