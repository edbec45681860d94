import { z } from 'zod';
import { decidesOwn, requireDecider } from '../../auth/decisions.js';
import { seeingRuns } from '../../auth/grants.js';
import { seesAllRuns, type Principal } from '../../auth/principal.js';
import { AppError } from '../../base/errors.js';
import { readerOf, type Reader } from '../../governance/approvals/view.js';
import { textFacts, type Operation } from '../../governance/operations/operation.js';
import { listOf, listPage, ListQuery, mergePages, type ListPosition, type Page } from '../../stores/lists.js';
import { insertOnce } from '../../stores/insert-once.js';
import { epochSeconds } from '../../base/time.js';
import type { Deps } from '../deps.js';
import { namesOf } from '../../auth/users.js';
import { decideHeld, heldCalls } from '../approvals/operations/held.js';
import { subjectOfApproval } from '../approvals/operations/subject.js';
import { rulesOfApproval } from '../approvals/rules.js';
import { visibleRuns } from '../executions/operations/read.js';
import { decideRules } from '../executions/rules.js';
import { noteShaper } from '../executions/operations/shaped-by.js';
import { decideElicitation, findElicitation } from '../mcp-servers/operations/elicitations.js';
import { decidersOf, openQuestions } from '../mcp-servers/record/elicitations.js';
import { decideMemory, findMemory } from '../memories/operations.js';
import { askersOfMemory, memoryRules } from '../memories/rules.js';
import { defineOperation, readsOwn } from '../operation.js';
import {
  toApprovalItem,
  toAuthorizationItem,
  authorizedElsewhere,
  toElicitationItem,
  endedAuthorizationFilters,
  findItem,
  toMemoryItem,
  namedApproval,
  readKey,
  statusOfElicitation,
  withReads,
} from './operations/items.js';
import { heldRuns, replyToHeldRun, toHeldRunItem } from './operations/held-runs.js';
import { replyToQuestion, subjectOfQuestion, toQuestionItems, waitingQuestions } from './operations/questions.js';
import { InboxItem, InboxReply, type Reply, type UnreadItem } from './record.js';
import { Id, ProjectId } from '../../base/ids.js';
export { inboxReadsCollection } from './record.js';

const key = z.object({ id: Id.max(500) });

const InboxPage = listOf(InboxItem);

export const listInbox = defineOperation({
  name: 'inbox.list',
  ...readsOwn,
  input: ListQuery,
  output: InboxPage,
  run: ({ deps, ctx: { principal }, input }) => pageOfInbox(deps, principal, input),
});

/** All kinds of items are sorted by the time at which they began to wait, so one cursor suffices. */
export async function pageOfInbox(
  deps: Deps,
  principal: Principal,
  { limit, cursor }: z.output<typeof ListQuery>,
  reader: Reader = readerOf(principal),
): Promise<z.output<typeof InboxPage>> {
  const paging = { limit, cursor };
  const ofPerson = seesAllRuns(principal) ? {} : { user_id: principal.userId };
  const waiting = { project_id: principal.projectId, status: 'waiting' as const, ...ofPerson };
  const open = {
    project_id: principal.projectId,
    ...openQuestions(epochSeconds()),
    ...(await questionsOfOwnRuns(deps, principal)),
  };
  const [held, memories, elicitations, questions, runs, ended] = await Promise.all([
    heldCalls(deps, principal, { ...paging, status: 'pending' }, reader),
    listPage(deps.mongo.collections.memories, waiting, paging, 'review.asked_at'),
    listPage(deps.mongo.collections.mcp_elicitations, open, paging, 'asked_at'),
    waitingQuestions(deps, principal, paging),
    heldRuns(deps, principal, paging),
    Promise.all(
      endedAuthorizationFilters(principal).map((filter) =>
        listPage(deps.mongo.collections.mcp_authorizations, filter, paging, 'ended.at'),
      ),
    ),
  ]);
  const approvals = held.flatMap(({ data }) => data.map(({ item: { approval } }) => approval));
  const [names, calls, asked] = await Promise.all([
    namesOf(
      deps.mongo.collections,
      approvals.map(({ requested_by }) => requested_by),
    ),
    deps.governance.approvals.heldCalls(principal, approvals),
    toQuestionItems(deps, principal, questions.data),
  ]);
  const lists = await Promise.all([
    ...held.map((list) =>
      itemsOf(list, ({ item, ...place }) => {
        const call = calls.get(item.approval.approval_id);
        return { ...place, item: toApprovalItem({ call, ...item }, names, true) };
      }),
    ),
    itemsOf(memories, async (memory) => {
      const item = await toMemoryItem(deps, principal, memory);
      return { at: item.created_at, id: memory._id, item };
    }),
    itemsOf(elicitations, (asked) => ({
      at: asked.asked_at,
      id: asked._id,
      item: toElicitationItem(asked, principal),
    })),
    itemsOf(questions, ({ _id, asked_at }) => ({ at: asked_at, id: _id, item: asked.get(_id) })),
    itemsOf(runs, async (run) => {
      const item = await toHeldRunItem(deps, principal, run);
      return { at: item.created_at, id: run._id, item };
    }),
    ...ended.map((list) =>
      itemsOf(list, async (record) => {
        const item = await toAuthorizationItem(deps, principal, record);
        return { at: record.ended?.at ?? 0, id: record._id, item };
      }),
    ),
  ]);
  const page = mergePages(limit, lists);
  const items = page.data.flatMap((item) => item ?? []);
  return { ...page, data: await withReads(deps, principal, items) };
}

/** Limits the questions to those of the caller's runs, unless it sees all runs. */
async function questionsOfOwnRuns({ mongo }: Deps, principal: Principal) {
  if (seesAllRuns(principal)) return {};
  const asking = { ...visibleRuns(principal), 'execution_context.waiting_for.kind': 'elicitation' };
  const runs = await mongo.collections.executions.find(asking, { projection: { _id: 1 } }).toArray();
  return { execution_id: { $in: runs.map(({ _id }) => _id) } };
}

type Entry = ListPosition & { item: UnreadItem | undefined };

async function itemsOf<T>(list: Page<T>, entryOf: (record: T) => Entry | Promise<Entry>): Promise<Page<Entry>> {
  return { ...list, data: await Promise.all(list.data.map(async (record) => entryOf(record))) };
}

export const markRead = defineOperation({
  name: 'inbox.mark-read',
  effect: 'data',
  grant: 'svc:orchestrate.write',
  // Whoever sees an item may mark it as read.
  right: seeingRuns,
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
 * Decides the approval or preview of the item, or answers an MCP server, with the rules of that decision. Throws `conflict` if it was already
 * decided, and `scope_denied` by the rules of approvals.
 */
export const replyToItem = defineOperation({
  ...decideRules,
  rulesFor: ({ id }) => rulesOfItem(id),
  key,
  input: InboxReply,
  output: InboxItem,
  errors: ['conflict', 'validation_failed'],
  lookUp: ({ deps, ctx: { principal }, key: { id } }) => subjectOfItem(deps, principal, id),
  run: ({ deps, ctx: { principal, recordId }, key: { id }, input: { projectID: _checked, ...reply } }) =>
    replyTo(deps, principal, id, reply, recordId),
});

/** The operation whose rules apply to a decision on this item. */
export function rulesOfItem(id: string): Operation {
  if (id.startsWith('approval:')) return rulesOfApproval(id.slice('approval:'.length));
  return id.startsWith('memory:') ? memoryRules : decideRules;
}

/** The resource and the facts of a decision on this item. */
export async function subjectOfItem(deps: Deps, principal: Principal, itemId: string) {
  const [kind = '', id = ''] = itemId.split(':');
  if (kind === 'memory') return subjectOfMemory(deps, principal, id);
  if (kind === 'approval') return subjectOfApproval(deps, principal, itemId.slice('approval:'.length));
  if (kind === 'authorization') return { resource: { type: 'connector', id }, facts: {} };
  if (kind === 'question') return subjectOfQuestion(deps, principal, id);
  if (kind === 'run') return { resource: { type: 'execution', id }, facts: { execution_id: id } };
  if (kind !== 'elicitation') return { facts: {} };
  const question = await findElicitation(deps.mongo.collections, principal, id);
  return { resource: { type: kind, id }, facts: { execution_id: question.execution_id, agent_id: question.agent_id } };
}

async function subjectOfMemory(deps: Deps, principal: Principal, id: string) {
  const own = decidesOwn(principal, askersOfMemory(await findMemory(deps, principal, id)));
  return { resource: { type: 'memory', id }, facts: { operation: 'decide', memory_id: id, ...own } };
}

/** @throws AppError `not_found`, `conflict`, `validation_failed`, `scope_denied` by the kind of the item */
export async function replyTo(
  deps: Deps,
  principal: Principal,
  id: string,
  reply: Reply,
  recordId: string,
  reader?: Reader,
): Promise<InboxItem> {
  if (reply.values !== undefined && !/^(elicitation|question):/.test(id))
    throw new AppError('validation_failed', 'values: only a question accepts values');
  // Shows no call, so it is no reading of one.
  const item = await findItem(deps, principal, id, 'client');
  const answered = await replies[item.kind](deps, principal, item, reply, recordId, reader);
  const [shown] = await withReads(deps, principal, [answered]);
  return shown as InboxItem;
}

type ReplyTo = (
  deps: Deps,
  of: Principal,
  item: UnreadItem,
  reply: Reply,
  updateId: string,
  reader?: Reader,
) => Promise<UnreadItem>;

const replies: Record<UnreadItem['kind'], ReplyTo> = {
  approval: replyToApproval,
  memory: replyToMemory,
  elicitation: replyToElicitation,
  question: replyToQuestion,
  run: replyToHeldRun,
  authorization: () => Promise.reject(new AppError('conflict', authorizedElsewhere)),
};

const answers = { accept: 'accepted', reject: 'declined', cancel: 'cancelled' } as const;

async function replyToElicitation(
  deps: Deps,
  principal: Principal,
  item: UnreadItem,
  { decision, values, edits }: Reply,
  decisionId: string,
): Promise<UnreadItem> {
  if (decision === 'approve' || (edits !== undefined && edits !== null))
    throw new AppError(
      'validation_failed',
      'decision: must be accept with values, reject or cancel for the question of an MCP server',
    );
  const question = await findElicitation(deps.mongo.collections, principal, item._id.split(':')[1] ?? '');
  requireDecider(principal, 'elicitation', decidersOf(question));
  await noteShaper(deps.mongo.collections, principal, question.execution_id);
  const decided = { status: answers[decision], values, decisionId };
  await decideElicitation({ collections: deps.mongo.collections, box: deps.auth.box }, question, principal, decided);
  return decidedAs(item, statusOfElicitation[decided.status]);
}

async function replyToMemory(
  deps: Deps,
  principal: Principal,
  item: UnreadItem,
  { decision, edits, payload_digest }: Reply,
  updateId: string,
  reader?: Reader,
): Promise<UnreadItem> {
  if (edits !== undefined && edits !== null)
    throw new AppError('validation_failed', 'edits: the facts of a memory cannot be edited');
  if (decision !== 'approve' && decision !== 'reject')
    throw new AppError('validation_failed', 'decision: must be approve or reject for a memory');
  const memory = await findMemory(deps, principal, item._id.slice('memory:'.length));
  await decideMemory(deps, principal, memory, { decision, payload_digest, reader }, updateId);
  return decidedAs(item, decision === 'reject' ? 'rejected' : 'approved');
}

function decidedAs(item: UnreadItem, status: UnreadItem['status']): UnreadItem {
  return { ...item, status, may_decide: false, may_not_decide_reason: `the ${item.kind} is ${status}` };
}

async function replyToApproval(
  deps: Deps,
  principal: Principal,
  { approval_id }: UnreadItem,
  { decision, edits, payload_digest, reason }: Reply,
  updateId: string,
  reader?: Reader,
): Promise<UnreadItem> {
  if (decision === 'cancel')
    throw new AppError('validation_failed', 'decision: must be approve, accept or reject for an approval');
  const vote = { decision, comment: reason, edits: edits ?? undefined, payload_digest };
  return namedApproval(deps, await decideHeld(deps, principal, approval_id ?? '', vote, updateId, reader));
}
