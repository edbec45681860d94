import { seesAllRuns, type Principal } from '../../../auth/principal.js';
import { notFound } from '../../../base/errors.js';
import type { Reader } from '../../../governance/approvals/view.js';
import { pick } from '../../../base/pick.js';
import { readHeld, type HeldCall } from '../../approvals/operations/held.js';
import { readExecution } from '../../executions/operations/read.js';
import type { Deps } from '../../deps.js';
import { namesOf } from '../../../auth/users.js';
import { findConnector, openConfig } from '../../connectors/operations/store.js';
import { McpConfig } from '../../connectors/rules/config.js';
import { findElicitation } from '../../mcp-servers/operations/elicitations.js';
import { authorizationId, type McpAuthorizationDocument } from '../../mcp-servers/record/authorizations.js';
import { decidersOf, isOpen, type McpElicitationDocument } from '../../mcp-servers/record/elicitations.js';
import { findMemory } from '../../memories/operations.js';
import { shownFindings } from '../../memories/operations/findings.js';
import { pageOfReview } from '../../memories/operations/review.js';
import type { MemoryDocument } from '../../memories/record.js';
import { askersOfMemory } from '../../memories/rules.js';
import { epochSeconds } from '../../../base/time.js';
import { approvalBodyFields, type InboxItem, statusOfApproval, type UnreadItem } from '../record.js';
import { findHeldRun } from './held-runs.js';
import { mayDecide } from './may-decide.js';
import { findQuestionItem } from './questions.js';

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
export async function findItem(deps: Deps, principal: Principal, id: string, reader?: Reader): Promise<UnreadItem> {
  const [kind, recordId = ''] = id.split(':');
  if (kind === 'memory') return toMemoryItem(deps, principal, await findMemory(deps, principal, recordId));
  if (kind === 'elicitation') {
    const asked = await findElicitation(deps.mongo.collections, principal, recordId);
    await readExecution(deps, principal, asked.execution_id, ['_id']);
    return toElicitationItem(asked, principal);
  }
  if (kind === 'authorization') return findAuthorizationItem(deps, principal, id);
  if (kind === 'question') return findQuestionItem(deps, principal, recordId);
  if (kind === 'run') return findHeldRun(deps, principal, recordId);
  if (kind !== 'approval') throw notFound('the item');
  return namedApproval(deps, await readHeld(deps, principal, id.slice('approval:'.length), reader));
}

export async function namedApproval(deps: Deps, held: HeldCall): Promise<UnreadItem> {
  return toApprovalItem(held, await namesOf(deps.mongo.collections, [held.approval.requested_by]));
}

const firstStatements = { limit: 100, cursor: undefined };

/** Adds the beginning of the review to a memory that waits, redacted, and the digest of the whole review. */
export async function withReview(deps: Deps, principal: Principal, item: UnreadItem): Promise<UnreadItem> {
  if (item.kind !== 'memory' || item.status !== 'waiting') return item;
  const memory = await findMemory(deps, principal, item.body.memory_id);
  const { summary, payload_digest, ...review } = await pageOfReview(deps, memory, firstStatements, false);
  const { data: statements, total_count: statement_count } = review;
  return { ...item, body: { ...item.body, summary, payload_digest, statement_count, statements } };
}

/** @throws AppError `not_found` for a memory without a review */
export async function toMemoryItem(deps: Deps, principal: Principal, memory: MemoryDocument): Promise<UnreadItem> {
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
    body: { memory_id: _id, source, ...(await shownFindings(deps, memory)) },
    execution_id: null,
    approval_id: null,
    created_at: review.asked_at,
    expires_at: review.until,
    status,
    ...mayDecide(principal, 'memory', { askers: askersOfMemory(memory) }, status),
  };
}

export const statusOfElicitation = {
  waiting: 'waiting',
  accepted: 'approved',
  declined: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
} as const;

export function toElicitationItem(asked: McpElicitationDocument, principal: Principal): UnreadItem {
  const { _id, agentflow, agent_id, server, tool, message, form, execution_id, asked_at, until } = asked;
  const status =
    asked.status === 'waiting' && !isOpen(asked, epochSeconds()) ? 'expired' : statusOfElicitation[asked.status];
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
    ...mayDecide(principal, 'elicitation', decidersOf(asked), status),
  };
}

/** The ended authorizations of the person and those of the project, as two filters because each has its own index. */
export function endedAuthorizationFilters(principal: Principal) {
  const { projectId: project_id, userId: user_id } = principal;
  const ended = { project_id, 'ended.at': { $gt: 0 } };
  const own = { ...ended, user_id, owner: 'person' as const };
  return seesAllRuns(principal) ? [own, { ...ended, owner: 'project' as const }] : [own];
}

export const authorizedElsewhere =
  'a person authorizes the MCP server at the address that POST /connectors/{projectID}/{connector_id}/authorize returns';

/** Undefined if the connector no longer uses this authorization. Only a new authorization ends the item. */
export async function toAuthorizationItem(
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
  const item = found && (await toAuthorizationItem(deps, principal, found));
  if (item?._id !== id) throw notFound('the item');
  return item;
}

/**
 * `call` is present for approvers and auditors only.
 * @param isExcerpt the call is redacted and shortened, because it is one of a list
 */
export function toApprovalItem(
  { approval, title, call }: HeldCall,
  names: ReadonlyMap<string, string>,
  isExcerpt = false,
): UnreadItem {
  const { approval_id, summary, requested_by, status, edited_payload_digest } = approval;
  const shown = statusOfApproval[status];
  return {
    ...pick(approval, 'execution_id', 'approval_id', 'created_at', 'expires_at', 'may_decide', 'may_not_decide_reason'),
    _id: `approval:${approval_id}`,
    kind: 'approval',
    title: title ?? `${summary}, asked by ${names.get(requested_by) ?? requested_by}`,
    body: { ...pick(approval, ...approvalBodyFields), ...(call !== undefined && { call, is_excerpt: isExcerpt }) },
    status: shown === 'approved' && edited_payload_digest !== null ? 'edited' : shown,
  };
}
