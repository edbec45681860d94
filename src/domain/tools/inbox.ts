import { z } from 'zod';
import { pick } from '../../base/pick.js';
import { AppError } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import { toolCase, multiplexedTool } from '../../governance/tools/tool.js';
import { findItem, withReview } from '../inbox/operations/items.js';
import { pageOfInbox, replyTo, replyToItem } from '../inbox/operations.js';
import { InboxItem, InboxReply } from '../inbox/record.js';
import { defineOperation, readsOwn, type DomainTool } from '../operation.js';

// Omits the descriptions of the route, because each character of the list of tools costs clients tokens.
const { decision, reason } = InboxReply.shape;
const Values = z.record(z.string(), z.unknown());
const Input = z
  .strictObject({
    operation: z.enum(['list', 'get', 'reply']),
    item_id: z.string().min(1).max(500).optional().describe('Except for `list`.'),
    decision: z.enum(decision.options).optional().describe('`accept` with `values` answers a question.'),
    values: Values.optional(),
    edits: z.union([z.string().max(200_000), Values]).optional(),
    payload_digest: z.string().max(64).optional(),
    reason,
    limit: z.int().min(1).max(200).default(50),
  })
  .meta({ id: 'InboxInput', example: { operation: 'list' } });

type Input = z.output<typeof Input>;

const Output = z.object({ items: z.array(z.looseObject({})) }).meta({ id: 'InboxItems' });

const reading = { name: 'inbox', ...readsOwn, facts: textFacts('operation', 'item_id') } as const;

const listItems = defineOperation({
  ...reading,
  fixedFacts: { operation: 'list' },
  input: z.object({ limit: z.int() }),
  output: z.array(InboxItem),
  dryRun: async () => ({ list: 'the items of the project that wait for a person' }),
  async run({ deps, ctx, input: { limit } }) {
    const { data } = await pageOfInbox(deps, ctx.principal, { limit, cursor: undefined }, 'client');
    return data;
  },
});

const readItem = defineOperation({
  ...reading,
  fixedFacts: { operation: 'get' },
  key: z.object({ item_id: z.string() }),
  output: z.looseObject({}),
  async dryRun({ deps, ctx, key: { item_id } }) {
    const { status, may_decide } = await findItem(deps, ctx.principal, item_id, 'client');
    return { get: { item_id, status, may_decide } };
  },
  run: async ({ deps, ctx: { principal }, key: { item_id } }) => ({
    ...(await withReview(deps, principal, await findItem(deps, principal, item_id, 'client'))),
  }),
});

/** The reply of the route, for programs: the item shows the redacted call. */
const replyAsProgram = defineOperation({
  ...replyToItem,
  async dryRun({ deps, ctx, key: { id }, input: { decision } }) {
    const { status, may_decide } = await findItem(deps, ctx.principal, id, 'client');
    return { reply: { item_id: id, status, may_decide, decision } };
  },
  run: ({ deps, ctx: { principal, recordId }, key: { id }, input: { projectID: _checked, ...reply } }) =>
    replyTo(deps, principal, id, reply, recordId, 'client'),
});

/** Lists and decides the items of the inbox, with the rules and grants of its routes. */
export const inboxTool: DomainTool = multiplexedTool({
  name: 'inbox',
  title: 'Inbox',
  description:
    'Lists or reads items that wait for a person: approvals, previews, memories, questions of MCP servers; or replies as the person decided.',
  hints: { readOnly: false, destructive: true, idempotent: false },
  input: Input,
  output: Output,
  choose: ({ operation }) => operation,
  cases: {
    list: toolCase(
      listItems,
      ({ limit }: Input) => ({ input: { limit } }),
      (items: unknown) => ({ items }),
    ),
    get: toolCase(
      readItem,
      (args: Input) => ({ key: { item_id: idOf(args) } }),
      (item: unknown) => ({ items: [item] }),
    ),
    reply: toolCase(
      replyAsProgram,
      (args: Input) => ({
        key: { id: idOf(args) },
        input: pick(args, 'decision', 'values', 'edits', 'payload_digest', 'reason'),
      }),
      (item: unknown) => ({ items: [item] }),
    ),
  },
});

/** @throws AppError `invalid_request` */
function idOf({ item_id, operation }: Input): string {
  if (item_id === undefined) throw new AppError('invalid_request', `item_id: required for ${operation}`);
  return item_id;
}
