import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { AppError, isAppError, notFound } from '../../errors.js';
import type { Approval } from '../../governance/approvals/record.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { encodeCursor, listOf, listPage, ListQuery, type Page } from '../../http/lists.js';
import { insertOnce } from '../../stores/mongo.js';
import { epochSeconds } from '../../time.js';
import { decidePreview } from './executions/preview.js';
import { readExecution } from './executions/read.js';
import { isOver, type ExecutionDocument } from './executions/record.js';

const example = {
  _id: 'preview:0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10:writer:1764000000500',
  kind: 'preview' as const,
  title: 'Newcomer guide: Writer',
  body: { agent_id: 'writer', goal: 'Brief the newcomer', kind: 'output', proposed: { output: 'Welcome!' } },
  execution_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
  approval_id: null,
  created_at: 1764000000.5,
  expires_at: 1764086400.5,
  read_at: null,
  status: 'waiting' as const,
};

/** Something that a person is asked; times are epoch seconds. */
export const InboxItem = z
  .object({
    _id: z.string(),
    kind: z.enum(['preview', 'approval']),
    title: z.string(),
    body: z.record(z.string(), z.unknown()).meta({ description: 'What is decided on: the preview of an agent, or the call that a policy holds.' }),
    execution_id: z.string().nullable(),
    approval_id: z.string().nullable(),
    created_at: z.number(),
    expires_at: z.number(),
    read_at: z.number().nullable().meta({ description: 'When the caller marked it as read.' }),
    status: z.enum(['waiting', 'approved', 'edited', 'rejected', 'expired']),
  })
  .meta({ id: 'InboxItem', example });
export type InboxItem = z.infer<typeof InboxItem>;
type UnreadItem = Omit<InboxItem, 'read_at'>;
type Preview = ExecutionDocument['previews'][string];

/** `_id` is `<user_id>/<item id>`. */
export interface InboxReadDocument {
  _id: string;
  user_id: string;
  item_id: string;
  read_at: number;
}

export const InboxReply = z
  .strictObject({
    projectID: z.string().optional(),
    decision: z.enum(['approve', 'reject']),
    edits: z.union([z.string().max(200_000), z.record(z.string(), z.unknown())]).nullish().meta({ description: 'Changes to a preview that is approved.' }),
    reason: z.string().max(500).optional(),
  })
  .meta({ id: 'InboxReply', example: { decision: 'approve', reason: 'As agreed' } });
export type InboxReply = z.infer<typeof InboxReply>;

const tag = 'inbox';
const params = z.object({ id: z.string().max(500) });
const query = z.object({ projectID: z.string().optional() });
const ReadBody = z.strictObject({ projectID: z.string().optional() });

/** What waits for a person in a project (contract, inbox). */
export function inboxRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/inbox',
      permission: 'svc:orchestrate.read',
      tag,
      query: ListQuery.extend(query.shape),
      summary: 'List what waits for a person, newest first',
      description: 'Previews of executions and approvals of held calls that wait, by when their execution or approval was made.',
      response: { schema: listOf(InboxItem), description: 'One page of items.' },
      handler: ({ ctx, query }) => listInbox(deps, ctx.principal, query),
    }),
    defineRoute({
      method: 'post',
      path: '/inbox/{id}/read',
      permission: 'svc:orchestrate.write',
      tag,
      params,
      query,
      summary: 'Mark an item as read, for the caller alone',
      body: ReadBody,
      response: { schema: InboxItem, description: 'The item; `read_at` is of the first time.' },
      handler: ({ ctx, params: { id } }) => markRead(deps, ctx.principal, id),
    }),
    defineRoute({
      method: 'post',
      path: '/inbox/{id}/reply',
      permission: 'svc:orchestrate.write',
      tag,
      params,
      query,
      summary: 'Answer the preview or approval behind an item',
      description: 'An approval is decided by an OWNER, ORG_ADMIN or PROJECT_ADMIN, and never by its requester.',
      body: InboxReply,
      response: { schema: InboxItem, description: 'The item as decided; `waiting` while a policy wants further approvers.' },
      errors: ['conflict', 'validation_failed'],
      handler: ({ ctx, params: { id }, body }) => reply(deps, ctx.principal, id, body),
    }),
  ];
}

/** Both kinds have UUIDv7s, so that one cursor holds for the two lists that a page is merged of. */
async function listInbox(deps: Deps, principal: Principal, { limit, cursor }: ListQuery): Promise<Page<InboxItem>> {
  const paging = { limit, cursor };
  const previews = { projectID: principal.projectId, 'execution_context.waiting_for.kind': 'preview', status: { $in: ['running', 'paused'] as const } };
  const [executions, approvals] = await Promise.all([
    listPage(deps.mongo.collections.executions, previews as object, paging),
    deps.governance.approvals.list(principal, { ...paging, status: 'pending' }),
  ]);
  const entries = [
    ...executions.data.map((record) => ({ key: record._id, item: waitingPreview(record) })),
    ...approvals.data.map((approval) => ({ key: approval.approval_id, item: approvalItem(approval) })),
  ].sort((a, b) => (a.key < b.key ? 1 : -1));
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  const isMore = entries.length > limit || executions.next_cursor !== null || approvals.next_cursor !== null;
  return {
    data: await withReads(deps, principal, page.flatMap(({ item }) => item ?? [])),
    total_count: executions.total_count + approvals.total_count,
    next_cursor: isMore && last ? encodeCursor(last.key) : null,
  };
}

async function withReads({ mongo }: Deps, { userId }: Principal, items: UnreadItem[]): Promise<InboxItem[]> {
  const reads = await mongo.collections.inbox_reads.find({ _id: { $in: items.map(({ _id }) => readKey(userId, _id)) } }).toArray();
  const times = new Map(reads.map(({ item_id, read_at }) => [item_id, read_at]));
  return items.map((item) => ({ ...item, read_at: times.get(item._id) ?? null }));
}

async function markRead(deps: Deps, principal: Principal, id: string): Promise<InboxItem> {
  const item = await findItem(deps, principal, id);
  const { userId } = principal;
  const { read_at } = await insertOnce(deps.mongo.collections.inbox_reads, { _id: readKey(userId, id), user_id: userId, item_id: id, read_at: epochSeconds() });
  return { ...item, read_at };
}

function readKey(userId: string, itemId: string): string {
  return `${userId}/${itemId}`;
}

/** @throws AppError `conflict` when it was decided before, `access_denied` by the rules of approvals, `not_found` */
async function reply(deps: Deps, principal: Principal, id: string, { decision, edits, reason }: InboxReply): Promise<InboxItem> {
  const item = await findItem(deps, principal, id);
  const answered =
    item.approval_id === null
      ? await replyToPreview(deps, principal, item, { decision, edits, reason })
      : await replyToApproval(deps, principal, item.approval_id, { decision, edits, reason });
  const [shown] = await withReads(deps, principal, [answered]);
  return shown as InboxItem;
}

type Reply = Pick<InboxReply, 'decision' | 'edits' | 'reason'>;

async function replyToPreview(deps: Deps, principal: Principal, item: UnreadItem, given: Reply): Promise<UnreadItem> {
  if (item.status !== 'waiting') throw new AppError('conflict', `the preview is ${item.status}`);
  const { executionId, agentId } = previewParts(item._id);
  await decidePreview(deps, principal, executionId, { agent_id: agentId, ...given });
  const isEdited = given.edits !== undefined && given.edits !== null;
  return { ...item, status: given.decision === 'reject' ? 'rejected' : isEdited ? 'edited' : 'approved' };
}

async function replyToApproval(deps: Deps, principal: Principal, id: string, { decision, edits, reason }: Reply): Promise<UnreadItem> {
  if (edits !== undefined && edits !== null) throw new AppError('validation_failed', 'edits: a held call is approved as it is or not at all');
  try {
    return approvalItem(await deps.governance.approvals.decide(principal, id, { decision, comment: reason }));
  } catch (error) {
    // The pipeline's code for the same refusal.
    if (isAppError(error) && error.code === 'S2:resolve-scope') throw new AppError('access_denied', error.message);
    throw error;
  }
}

/** @throws AppError `not_found` for an unknown or malformed id, and for an item that the caller does not see */
async function findItem(deps: Deps, principal: Principal, id: string): Promise<UnreadItem> {
  const [kind, recordId = ''] = id.split(':');
  if (kind === 'approval' && id === `approval:${recordId}`) return approvalItem(await deps.governance.approvals.read(principal, recordId));
  if (kind !== 'preview') throw notFound('the item');
  const { executionId, agentId } = previewParts(id);
  const record = await readExecution(deps, principal, executionId);
  const preview = previewOf(record, agentId);
  const item = preview && previewItem(record, preview);
  // An agent may ask again: an answer to its earlier preview is none to the present one.
  if (item?._id !== id) throw notFound('the item');
  return item;
}

function previewParts(id: string): { executionId: string; agentId: string } {
  const [, executionId = '', agentId = ''] = id.split(':');
  return { executionId, agentId };
}

function waitingPreview(record: ExecutionDocument): UnreadItem | undefined {
  const waiting = z.object({ agent_id: z.string() }).safeParse(record.execution_context.waiting_for);
  const preview = waiting.success ? previewOf(record, waiting.data.agent_id) : undefined;
  return preview && previewItem(record, preview);
}

function previewOf({ previews }: ExecutionDocument, agentId: string): Preview | undefined {
  return Object.hasOwn(previews, agentId) ? previews[agentId] : undefined;
}

function previewItem(record: ExecutionDocument, preview: Preview): UnreadItem {
  const { agent_id, title, kind, proposed, requested_at, expires_at } = preview;
  const unanswered = preview.status === 'waiting' && isOver(record.status);
  return {
    _id: `preview:${record._id}:${agent_id}:${Math.round(requested_at * 1000)}`,
    kind: 'preview',
    title: `${record.agentflow.name}: ${title}`,
    body: { agent_id, goal: record.goal, kind, proposed },
    execution_id: record._id,
    approval_id: null,
    created_at: requested_at,
    expires_at,
    status: unanswered ? 'expired' : preview.status,
  };
}

function approvalItem(approval: Approval): UnreadItem {
  const { approval_id, tool, requested_by, reason, policy_ids, policy_version, payload_digest, lifecycle_id, required_approvers, votes } = approval;
  return {
    _id: `approval:${approval_id}`,
    kind: 'approval',
    title: `${tool}, asked by ${requested_by}`,
    body: { tool, requested_by, reason, policy_ids, policy_version, payload_digest, lifecycle_id, required_approvers, votes },
    execution_id: null,
    approval_id,
    created_at: approval.created_at,
    expires_at: approval.expires_at,
    status: approval.status === 'pending' ? 'waiting' : approval.status,
  };
}
