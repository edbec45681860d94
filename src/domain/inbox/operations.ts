import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../errors.js';
import { decideApprovalRules } from '../../governance/approvals/rules.js';
import { textFacts } from '../../governance/operations/operation.js';
import { comparePositions, encodePosition, listOf, listPage, ListQuery } from '../../stores/lists.js';
import { insertOnce } from '../../stores/mongo.js';
import { epochSeconds } from '../../time.js';
import type { Deps } from '../deps.js';
import { namesOf } from '../../auth/users.js';
import { decidePreview } from '../executions/operations/preview.js';
import { decideRules } from '../executions/rules.js';
import { defineOperation } from '../operation.js';
import {
  approvalItem,
  findItem,
  namedApproval,
  previewParts,
  readKey,
  waitingPreview,
  waitingSince,
  withReads,
} from './items.js';
import { InboxItem, InboxReply, type Reply, type UnreadItem } from './record.js';
import { Id, ProjectId } from '../../ids.js';

const key = z.object({ id: Id.max(500) });

/** Previews and approvals are both sorted by the time at which they began to wait, so one cursor serves the merged page. */
export const listInbox = defineOperation({
  name: 'inbox.list',
  effect: 'read',
  grant: 'svc:orchestrate.read',
  input: ListQuery,
  output: listOf(InboxItem),
  async run({ deps, ctx: { principal }, input: { limit, cursor } }) {
    const paging = { limit, cursor };
    const previews = {
      projectID: principal.projectId,
      'execution_context.waiting_for.kind': 'preview',
      status: { $in: ['running', 'paused'] as const },
    };
    const [executions, approvals] = await Promise.all([
      listPage(
        deps.mongo.collections.executions,
        previews as object,
        paging,
        'execution_context.waiting_for.requested_at',
      ),
      deps.governance.approvals.list(principal, { ...paging, status: 'pending' }),
    ]);
    const [names, calls] = await Promise.all([
      namesOf(
        deps.mongo.collections,
        approvals.data.map(({ requested_by }) => requested_by),
      ),
      deps.governance.approvals.shown(approvals.data),
    ]);
    const entries = [
      ...executions.data.map((record) => ({ at: waitingSince(record), id: record._id, item: waitingPreview(record) })),
      ...approvals.data.map((approval) => {
        const { approval_id: id, created_at: at } = approval;
        return { at, id, item: approvalItem(approval, names, calls.get(id)) };
      }),
    ].sort(comparePositions);
    const page = entries.slice(0, limit);
    const last = page.at(-1);
    const isMore = entries.length > limit || executions.next_cursor !== null || approvals.next_cursor !== null;
    return {
      data: await withReads(
        deps,
        principal,
        page.flatMap(({ item }) => item ?? []),
      ),
      total_count: executions.total_count + approvals.total_count,
      ...((executions.total_is_lower_bound ?? approvals.total_is_lower_bound) && {
        total_is_lower_bound: true as const,
      }),
      next_cursor: isMore && last ? encodePosition(last) : null,
    };
  },
});

export const markRead = defineOperation({
  name: 'inbox.mark-read',
  effect: 'data',
  grant: 'svc:orchestrate.write',
  facts: textFacts('id'),
  key,
  input: z.strictObject({ projectID: ProjectId.optional() }),
  output: InboxItem,
  async run({ deps, ctx: { principal }, key: { id } }) {
    const item = await findItem(deps, principal, id);
    const { userId } = principal;
    const { read_at } = await insertOnce(deps.mongo.collections.inbox_reads, {
      _id: readKey(userId, id),
      user_id: userId,
      item_id: id,
      read_at: epochSeconds(),
    });
    const [marked] = await withReads(deps, principal, [item]);
    return { ...(marked as InboxItem), read_at };
  },
});

/**
 * Decides the approval or preview of the item, with the rules of that decision. Throws `conflict` if it was already
 * decided, and `scope_denied` by the rules of approvals.
 */
export const replyToItem = defineOperation({
  ...decideRules,
  rulesFor: ({ key: { id } }) => (id.startsWith('approval:') ? decideApprovalRules : decideRules),
  key,
  input: InboxReply,
  output: InboxItem,
  errors: ['conflict', 'validation_failed'],
  async lookUp({ key: { id: itemId } }) {
    const [kind = '', id = '', agent_id = ''] = itemId.split(':');
    return kind === 'approval'
      ? { resource: { type: kind, id }, facts: { id } }
      : { resource: { type: 'execution', id }, facts: { execution_id: id, agent_id } };
  },
  async run({ deps, ctx: { principal, recordId }, key: { id }, input: { projectID: _checked, ...given } }) {
    const item = await findItem(deps, principal, id);
    const answered =
      item.approval_id === null
        ? await replyToPreview(deps, principal, item, given, recordId)
        : await replyToApproval(deps, principal, item.approval_id, given, recordId);
    const [shown] = await withReads(deps, principal, [answered]);
    return shown as InboxItem;
  },
});

async function replyToPreview(
  deps: Deps,
  principal: Principal,
  item: UnreadItem,
  given: Reply,
  updateId: string,
): Promise<UnreadItem> {
  if (item.status !== 'waiting') throw new AppError('conflict', `the preview is ${item.status}`);
  const { executionId, agentId } = previewParts(item._id);
  await decidePreview(
    deps,
    principal,
    executionId,
    { agent_id: agentId, preview_id: String(item.body.preview_id), ...given },
    updateId,
  );
  const isEdited = given.edits !== undefined && given.edits !== null;
  return { ...item, status: given.decision === 'reject' ? 'rejected' : isEdited ? 'edited' : 'approved' };
}

async function replyToApproval(
  deps: Deps,
  principal: Principal,
  id: string,
  { decision, edits, reason }: Reply,
  updateId: string,
): Promise<UnreadItem> {
  if (edits !== undefined && edits !== null)
    throw new AppError('validation_failed', 'edits: a held call cannot be changed');
  return namedApproval(
    deps,
    await deps.governance.approvals.decide(principal, id, { decision, comment: reason }, updateId),
  );
}
