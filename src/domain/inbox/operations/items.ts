import { z } from 'zod';
import { holdsGrant, isPerson, type Principal } from '../../../auth/principal.js';
import type { Grant } from '../../../auth/grants.js';
import { notFound } from '../../../errors.js';
import type { Approval, ApprovalWithToken } from '../../../governance/approvals/record.js';
import type { Deps } from '../../deps.js';
import { namesOf } from '../../../auth/users.js';
import { findConnector, openConfig } from '../../connectors/operations/store.js';
import { McpConfig } from '../../connectors/rules/config.js';
import { findElicitation } from '../../mcp-servers/operations/elicitations.js';
import { authorizationId, type McpAuthorizationDocument } from '../../mcp-servers/record/authorizations.js';
import { isOpen, type McpElicitationDocument } from '../../mcp-servers/record/elicitations.js';
import { findMemory, foundIn } from '../../memories/operations.js';
import type { MemoryDocument } from '../../memories/record.js';
import { readExecution } from '../../executions/operations/read.js';
import { isOver, type ExecutionDocument } from '../../executions/record.js';
import { epochSeconds } from '../../../time.js';
import { type InboxItem, type Preview, statusOfApproval, type UnreadItem } from '../record.js';

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
  if (kind === 'memory') return memoryItem(deps, principal, await findMemory(deps, principal, recordId));
  if (kind === 'elicitation')
    return elicitationItem(await findElicitation(deps.mongo.collections, principal, recordId), principal);
  if (kind === 'authorization') return findAuthorizationItem(deps, principal, id);
  if (kind !== 'preview') throw notFound('the item');
  const { executionId, agentId } = previewParts(id);
  const record = await readExecution(deps, principal, executionId);
  const preview = previewOf(record, agentId);
  const item = preview && previewItem(record, preview, principal);
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

export function waitingPreview(record: ExecutionDocument, principal: Principal): UnreadItem | undefined {
  const waiting = z.object({ agent_id: z.string() }).safeParse(record.execution_context.waiting_for);
  const preview = waiting.success ? previewOf(record, waiting.data.agent_id) : undefined;
  return preview && previewItem(record, preview, principal);
}

function previewOf({ previews }: ExecutionDocument, agentId: string): Preview | undefined {
  return Object.hasOwn(previews, agentId) ? previews[agentId] : undefined;
}

function previewItem(record: ExecutionDocument, preview: Preview, principal: Principal): UnreadItem {
  const { agent_id, preview_id, title, kind, proposed, requested_at, expires_at } = preview;
  const status = preview.status === 'waiting' && isOver(record.status) ? 'expired' : preview.status;
  return {
    _id: `preview:${record._id}:${agent_id}:${Math.round(requested_at * 1000)}`,
    kind: 'preview',
    title: `${record.agentflow.name}: ${title}`,
    body: { agent_id, preview_id, goal: record.goal, kind, proposed },
    execution_id: record._id,
    approval_id: null,
    created_at: requested_at,
    expires_at,
    status,
    ...mayDecide(principal, 'svc:orchestrate.write', { kind: 'preview', status }),
  };
}

function mayDecide(principal: Principal, grant: Grant, { kind, status }: Pick<UnreadItem, 'kind' | 'status'>) {
  const isGranted = holdsGrant(principal, grant);
  const reason = !isGranted
    ? `deciding needs the grant ${grant}`
    : status === 'waiting'
      ? null
      : `the ${kind} is ${status}`;
  return { may_decide: reason === null, may_not_decide_reason: reason };
}

export async function namedApproval(deps: Deps, approval: ApprovalWithToken): Promise<UnreadItem> {
  const call = approval.execution_id === null ? undefined : approval.payload;
  return approvalItem(approval, await namesOf(deps.mongo.collections, [approval.requested_by]), call);
}

/** @throws AppError `not_found` for a memory without a review */
export async function memoryItem(deps: Deps, principal: Principal, memory: MemoryDocument): Promise<UnreadItem> {
  const { _id, source, review, decided_by } = memory;
  if (!review) throw notFound('the item');
  const isRejected = memory.status === 'rejected' && decided_by !== null;
  const hasEnded = memory.status === 'rejected' || memory.status === 'cancelled';
  const answered = isRejected ? 'rejected' : hasEnded ? 'expired' : 'approved';
  const status = memory.status === 'waiting' ? 'waiting' : answered;
  return {
    _id: `memory:${_id}`,
    kind: 'memory',
    title: `Facts of a text${source === null ? '' : `: ${source}`}`,
    body: { memory_id: _id, source, ...(await foundIn(deps, memory)) },
    execution_id: null,
    approval_id: null,
    created_at: review.asked_at,
    expires_at: review.until,
    status,
    ...mayDecide(principal, 'svc:ontology.write', { kind: 'memory', status }),
  };
}

const statusOfElicitation = {
  waiting: 'waiting',
  accepted: 'approved',
  declined: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
} as const;

/** Nobody but a person answers: an MCP server asks for what its agent does not know. */
export function elicitationItem(asked: McpElicitationDocument, principal: Principal): UnreadItem {
  const { _id, agentflow, agent_id, server, tool, message, form, execution_id, asked_at, until } = asked;
  const status =
    asked.status === 'waiting' && !isOpen(asked, epochSeconds()) ? 'expired' : statusOfElicitation[asked.status];
  const decide = mayDecide(principal, 'svc:orchestrate.write', { kind: 'elicitation', status });
  return {
    _id: `elicitation:${_id}`,
    kind: 'elicitation',
    title: `${agentflow}: the MCP server of ${tool} asks`,
    body: { agent_id, server, tool, message, schema: form },
    execution_id,
    approval_id: null,
    created_at: asked_at,
    expires_at: until,
    status,
    ...(decide.may_decide && !isPerson(principal)
      ? { may_decide: false, may_not_decide_reason: 'only a signed-in person answers an MCP server' }
      : decide),
  };
}

/** Authorizations that ended, of the person and of the project: two lists, each with an index. */
export function endedFor({ projectId: project_id, userId: user_id }: Principal) {
  const ended = { project_id, 'ended.at': { $gt: 0 } };
  return [
    { ...ended, user_id, owner: 'person' as const },
    { ...ended, owner: 'project' as const },
  ];
}

export const authorizedElsewhere =
  'a person authorizes the MCP server at the address that POST /connectors/{projectID}/{connector_id}/authorize returns';

/** Undefined if the connector no longer uses this authorization. Nobody decides it here: the item ends with a new authorization. */
export async function authorizationItem(
  { mongo, auth }: Deps,
  { projectId }: Principal,
  { connector_id, owner, server, revision, ended }: McpAuthorizationDocument,
): Promise<UnreadItem | undefined> {
  const connector = await findConnector(mongo.collections, connector_id);
  const config = connector?.projectID === projectId && McpConfig.safeParse(openConfig(auth.box, connector)).data;
  if (!ended || !config || config.url !== server || config.auth?.type !== 'oauth' || config.auth.owner !== owner)
    return undefined;
  return {
    _id: `authorization:${connector_id}:${revision}`,
    kind: 'authorization',
    title: `${connector.name}: the MCP server must be authorized again`,
    body: { connector_id, owner, server, reason: ended.reason },
    execution_id: null,
    approval_id: null,
    created_at: ended.at,
    expires_at: null,
    status: 'waiting',
    may_decide: false,
    may_not_decide_reason: authorizedElsewhere,
  };
}

async function findAuthorizationItem(deps: Deps, principal: Principal, id: string): Promise<UnreadItem> {
  const [, connector_id = '', revision = ''] = id.split(':');
  const ids = (['person', 'project'] as const).map((owner) => authorizationId(connector_id, owner, principal.userId));
  const mine = { _id: { $in: ids }, project_id: principal.projectId, revision };
  const found = await deps.mongo.collections.mcp_authorizations.findOne(mine);
  const item = found && (await authorizationItem(deps, principal, found));
  if (item?._id !== id) throw notFound('the item');
  return item;
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
    edited_payload_digest,
    editable_fields,
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
      edited_payload_digest,
      editable_fields,
      outcome_unknown: approval.outcome_unknown,
      clock_stopped_at: approval.clock_stopped_at,
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
    status: statusOf(approval),
    may_decide: approval.may_decide,
    may_not_decide_reason: approval.may_not_decide_reason,
  };
}

function statusOf({ status, edited_payload_digest }: Approval): UnreadItem['status'] {
  const shown = statusOfApproval[status];
  return shown === 'approved' && edited_payload_digest !== null ? 'edited' : shown;
}
