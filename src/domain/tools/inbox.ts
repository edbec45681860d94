import { z } from 'zod';
import { seeingRuns } from '../../auth/grants.js';
import { requirePermission } from '../../auth/require-grant.js';
import { AppError } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import { defineTool } from '../../governance/tools/tool.js';
import type { Deps } from '../deps.js';
import { findItem, withReview } from '../inbox/operations/items.js';
import { pageOfInbox, replyTo, rulesOfItem, subjectOfItem } from '../inbox/operations.js';
import { InboxReply } from '../inbox/record.js';

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

const Output = z.object({ items: z.array(z.looseObject({})) }).meta({ id: 'InboxItems' });

const isReply = (operation: unknown) => operation === 'reply';

/** Lists and decides the items of the inbox, with the rules and grants of its routes. Shows redacted calls only, because programs call it. */
export const inboxTool = defineTool(
  {
    name: 'inbox',
    grant: ({ operation }) => (isReply(operation) ? 'svc:orchestrate.write' : 'svc:orchestrate.read'),
    right: ({ operation }) => (isReply(operation) ? ['decide', 'run'] : seeingRuns),
    effect: ({ operation }) => (isReply(operation) ? 'write' : 'read'),
    facts: textFacts('operation', 'item_id'),
  },
  (deps: Deps) => ({
    rulesFor: ({ operation, item_id }) =>
      isReply(operation) && typeof item_id === 'string' ? rulesOfItem(item_id) : undefined,
    title: 'Inbox',
    description:
      'Lists or reads items that wait for a person: approvals, previews, memories, questions of MCP servers; or replies as the person decided.',
    input: Input,
    output: Output,
    hints: { readOnly: false, destructive: true, idempotent: false },
    resource: ({ item_id }) => ({ type: 'inbox', id: item_id ?? '*' }),
    lookUp: async ({ operation, item_id = '' }, { principal }) =>
      isReply(operation) ? subjectOfItem(deps, principal, item_id) : {},
    prepare: async ({ item_id, ...input }, { principal }) => {
      if (input.operation !== 'list' && item_id === undefined)
        throw new AppError('invalid_request', `item_id: required for ${input.operation}`);
      if (isReply(input.operation)) {
        if (input.decision === undefined) throw new AppError('invalid_request', 'decision: required for reply');
        requirePermission(principal, { grant: 'svc:orchestrate.write', right: ['decide', 'run'] });
      }
      return { ...input, item_id: item_id ?? '' };
    },
    dryRun: async ({ operation, item_id, decision: asked }, { principal }) => {
      if (operation === 'list') return { list: 'the items of the project that wait for a person' };
      const { status, may_decide } = await findItem(deps, principal, item_id, 'client');
      return { [operation]: { item_id, status, may_decide, ...(asked && { decision: asked }) } };
    },
    async execute({ operation, item_id, limit, decision, ...fields }, { principal, recordId }) {
      if (operation === 'list') {
        const { data } = await pageOfInbox(deps, principal, { limit, cursor: undefined }, 'client');
        return { body: { items: data } };
      }
      if (operation === 'get') {
        const item = await findItem(deps, principal, item_id, 'client');
        return { body: { items: [await withReview(deps, principal, item)] } };
      }
      const { values, edits, payload_digest, reason } = fields;
      const reply = { decision: decision ?? 'reject', values, edits, payload_digest, reason };
      return { body: { items: [await replyTo(deps, principal, item_id, reply, recordId, 'client')] } };
    },
  }),
);
