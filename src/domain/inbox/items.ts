import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { notFound } from '../../errors.js';
import type { Approval, ApprovalWithToken } from '../../governance/approvals/record.js';
import type { Deps } from '../deps.js';
import { namesOf } from '../../auth/users.js';
import { readExecution } from '../executions/operations/read.js';
import { isOver, type ExecutionDocument } from '../executions/record.js';
import { type InboxItem, type Preview, statusOfApproval, type UnreadItem } from './record.js';

/** Adds the times at which the caller read the items. */
export async function withReads({ mongo }: Deps, { userId }: Principal, items: UnreadItem[]): Promise<InboxItem[]> {
  const reads = await mongo.collections.inbox_reads
    .find({ _id: { $in: items.map(({ _id }) => readKey(userId, _id)) } })
    .toArray();
  const times = new Map(reads.map(({ item_id, read_at }) => [item_id, read_at]));
  return items.map((item) => ({ ...item, read_at: times.get(item._id) ?? null }));
}

export function readKey(userId: string, itemId: string): string {
  return `${userId}/${itemId}`;
}

/** @throws AppError `not_found` for an unknown or malformed id, and for an item that the caller may not see */
export async function findItem(deps: Deps, principal: Principal, id: string): Promise<UnreadItem> {
  const [kind, recordId = ''] = id.split(':');
  if (kind === 'approval' && id === `approval:${recordId}`)
    return namedApproval(deps, await deps.governance.approvals.read(principal, recordId));
  if (kind !== 'preview') throw notFound('the item');
  const { executionId, agentId } = previewParts(id);
  const record = await readExecution(deps, principal, executionId);
  const preview = previewOf(record, agentId);
  const item = preview && previewItem(record, preview);
  // An agent may ask again, and an answer to its earlier preview does not apply to the current one.
  if (item?._id !== id) throw notFound('the item');
  return item;
}

export function previewParts(id: string): { executionId: string; agentId: string } {
  const [, executionId = '', agentId = ''] = id.split(':');
  return { executionId, agentId };
}

/** Null for previews of a release that did not record the time; they are sorted last. */
export function waitingSince({ execution_context }: ExecutionDocument): number | null {
  return z.object({ requested_at: z.number() }).safeParse(execution_context.waiting_for).data?.requested_at ?? null;
}

export function waitingPreview(record: ExecutionDocument): UnreadItem | undefined {
  const waiting = z.object({ agent_id: z.string() }).safeParse(record.execution_context.waiting_for);
  const preview = waiting.success ? previewOf(record, waiting.data.agent_id) : undefined;
  return preview && previewItem(record, preview);
}

function previewOf({ previews }: ExecutionDocument, agentId: string): Preview | undefined {
  return Object.hasOwn(previews, agentId) ? previews[agentId] : undefined;
}

function previewItem(record: ExecutionDocument, preview: Preview): UnreadItem {
  const { agent_id, preview_id, title, kind, proposed, requested_at, expires_at } = preview;
  const unanswered = preview.status === 'waiting' && isOver(record.status);
  return {
    _id: `preview:${record._id}:${agent_id}:${Math.round(requested_at * 1000)}`,
    kind: 'preview',
    title: `${record.agentflow.name}: ${title}`,
    body: { agent_id, preview_id, goal: record.goal, kind, proposed },
    execution_id: record._id,
    approval_id: null,
    created_at: requested_at,
    expires_at,
    status: unanswered ? 'expired' : preview.status,
  };
}

export async function namedApproval(deps: Deps, approval: ApprovalWithToken): Promise<UnreadItem> {
  const call = approval.execution_id === null ? undefined : approval.payload;
  return approvalItem(approval, await namesOf(deps.mongo.collections, [approval.requested_by]), call);
}

/** `call` is the act itself, for its approvers. */
export function approvalItem(approval: Approval, names: ReadonlyMap<string, string>, call?: unknown): UnreadItem {
  const {
    approval_id,
    tool,
    requested_by,
    reason,
    policy_ids,
    policy_version,
    payload_digest,
    lifecycle_id,
    required_approvers,
    approver_roles,
    votes,
  } = approval;
  return {
    _id: `approval:${approval_id}`,
    kind: 'approval',
    title: `${tool}, asked by ${names.get(requested_by) ?? requested_by}`,
    body: {
      tool,
      requested_by,
      reason,
      policy_ids,
      policy_version,
      payload_digest,
      lifecycle_id,
      required_approvers,
      approver_roles,
      votes,
      ...(call !== undefined && { call }),
    },
    execution_id: approval.execution_id,
    approval_id,
    created_at: approval.created_at,
    expires_at: approval.expires_at,
    status: statusOfApproval[approval.status],
  };
}
