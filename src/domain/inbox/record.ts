import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { exampleId } from '../../base/ids.js';
import { Approval } from '../../governance/approvals/record.js';
import { ElicitationForm } from '../mcp-servers/rules/elicitation-form.js';

const example = {
  _id: `approval:${exampleId}`,
  kind: 'approval' as const,
  title: 'Newcomer guide: Writer',
  body: {
    tool: 'execution.preview',
    summary: 'Newcomer guide: Writer',
    payload_view: { is_redacted: false, has_hidden: false, is_shortened: false },
    requested_by: exampleId,
    reason: 'An agent in preview mode asks a person before it acts.',
    policy_ids: ['builtin.preview'],
    policy_version: 0,
    payload_digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ...{ edited_payload_digest: null, editable_fields: null, outcome_unknown: false, clock_stopped_at: null },
    ...{ lifecycle_id: null, required_approvers: 1, approver_roles: null, votes: [], approvals_given: 0 },
    call: {
      agent_id: 'writer',
      preview_id: 'writer/output/preview',
      goal: 'Brief the newcomer',
      kind: 'output',
      proposed: { output: 'Welcome!' },
    },
  },
  execution_id: exampleId,
  approval_id: exampleId,
  created_at: 1764000000.5,
  expires_at: 1764086400.5,
  may_decide: true,
  may_not_decide_reason: null,
  read_at: null,
  status: 'waiting' as const,
};

/** What waits for an approval: a held call, or the preview of a run (`tool` is `execution.preview`). */
const ApprovalBody = Approval.pick({
  ...{ tool: true, summary: true, payload_view: true, requested_by: true, reason: true, policy_ids: true },
  ...{ policy_version: true, payload_digest: true, edited_payload_digest: true, editable_fields: true },
  ...{ outcome_unknown: true, clock_stopped_at: true, lifecycle_id: true, required_approvers: true },
  ...{ approver_roles: true, votes: true, approvals_given: true },
}).extend({
  call: z.unknown().optional().describe('The call. Only for approvers and auditors.'),
  is_excerpt: z.boolean().optional().describe('Whether `call` is redacted and shortened, because it is one of a list.'),
});
export const approvalBodyFields = ApprovalBody.keyof().exclude(['call', 'is_excerpt']).options;

/** What was found in a remembered text. */
const MemoryBody = z.object({
  memory_id: z.string(),
  source: z.string().nullable(),
  counts: z.record(z.string(), z.number()),
  facts: z.array(z.unknown()),
  ...{ summary: z.unknown().optional(), payload_digest: z.string().optional() },
  ...{ statement_count: z.number().optional(), statements: z.array(z.unknown()).optional() },
});

/** What an MCP server asks: its untrusted `message`, and the JSON Schema of the answer. */
const ElicitationBody = z.object({
  ...{ agent_id: z.string(), server: z.string(), tool: z.string(), message: z.string() },
  schema: ElicitationForm,
});

/** The question of an `ask` step: its message, the JSON Schema of the answer, and who may answer. */
const QuestionBody = z.object({
  step_id: z.string(),
  message: z.string(),
  schema: z.record(z.string(), z.unknown()),
  to: z.object({ roles: z.array(z.string()), people: z.array(z.string()) }).nullable(),
});

/** The MCP server that must be authorized again. */
const AuthorizationBody = z.object({
  connector_id: z.string(),
  owner: z.enum(['person', 'project']),
  server: z.string(),
  reason: z.string(),
});

/** The run that is held because its person has no role that permits it. `approve` resumes it, `reject` ends it. */
const HeldRunBody = z.object({
  ...{ execution_id: z.string(), user_id: z.string(), name: z.string(), reason: z.string(), goal: z.string() },
});

const itemOf = <Kind extends string, Body extends z.ZodType>(kind: Kind, body: Body) =>
  z.object({
    _id: z.string(),
    kind: z.literal(kind),
    title: z.string(),
    body,
    execution_id: z.string().nullable(),
    approval_id: z.string().nullable(),
    created_at: z.number(),
    expires_at: z.number().nullable().describe('Null: the item waits without a time limit.'),
    may_decide: z.boolean().describe('Whether the caller may decide it now.'),
    may_not_decide_reason: z.string().nullable().describe('Why the caller may not decide it; null if the caller may.'),
    read_at: z.number().nullable().describe('When the caller marked it as read.'),
    status: z.enum(['waiting', 'approved', 'edited', 'rejected', 'cancelled', 'expired']),
  });

/** A question to a person. Times are epoch seconds. */
export const InboxItem = z
  .discriminatedUnion('kind', [
    itemOf('approval', ApprovalBody),
    itemOf('memory', MemoryBody),
    itemOf('elicitation', ElicitationBody),
    itemOf('question', QuestionBody),
    itemOf('authorization', AuthorizationBody),
    itemOf('run', HeldRunBody),
  ])
  .meta({ id: 'InboxItem', example });
export type InboxItem = z.infer<typeof InboxItem>;
/** An item of each kind, before it is known whether the caller has read it. */
export type UnreadItem = InboxItem extends infer Item
  ? Item extends InboxItem
    ? Omit<Item, 'read_at'>
    : never
  : never;

/** `_id` is `<user_id>/<item id>`. */
interface InboxReadDocument {
  _id: string;
  user_id: string;
  item_id: string;
  read_at: number;
}

export const InboxReply = z
  .strictObject({
    projectID: z.string().optional(),
    decision: z
      .enum(['approve', 'accept', 'reject', 'cancel'])
      .describe(
        '`accept`: an act whose outcome is unknown has taken effect, and is not repeated; the question of an `ask` step or of an MCP server gets the `values` that it asks for. An MCP server learns of `reject` (declined) and `cancel` (no decision).',
      ),
    values: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('For the decision `accept` of a question or an elicitation: the answer, which fits its schema.'),
    edits: z
      .union([z.string().max(200_000), z.record(z.string(), z.unknown())])
      .nullish()
      .describe(
        'Changes to a preview that is approved; for the approval of an act, new values for its `editable_fields`.',
      ),
    payload_digest: z
      .string()
      .max(64)
      .optional()
      .describe(
        'For an approval: the digest of the call that you saw, as in `POST /v1/approvals/{id}/approve`; for a memory: that of its review (`GET /v1/memories/{memory_id}/review`).',
      ),
    reason: z.string().max(500).optional(),
  })
  .meta({ id: 'InboxReply', example: { decision: 'approve', reason: 'As agreed' } });
export type InboxReply = z.infer<typeof InboxReply>;

export type Reply = Pick<InboxReply, 'decision' | 'values' | 'edits' | 'payload_digest' | 'reason'>;

/** An approved item is final, whether or not the requester then makes the call. */
export const statusOfApproval = {
  pending: 'waiting',
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  used: 'approved',
} as const;

export const inboxReadsCollection = defineCollection('inbox_reads', {});

declare module '../../stores/collections.js' {
  interface Documents {
    inbox_reads: InboxReadDocument;
  }
}
