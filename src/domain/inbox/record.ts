import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { exampleId } from '../../base/ids.js';

const example = {
  _id: `approval:${exampleId}:writer:1764000000500`,
  kind: 'approval' as const,
  title: 'Newcomer guide: Writer',
  body: {
    tool: 'execution.preview',
    policy_ids: ['builtin.preview'],
    call: {
      agent_id: 'writer',
      preview_id: 'writer/output/preview',
      goal: 'Brief the newcomer',
      kind: 'output',
      proposed: { output: 'Welcome!' },
    },
  },
  execution_id: exampleId,
  approval_id: `${exampleId}:writer:1764000000500`,
  created_at: 1764000000.5,
  expires_at: 1764086400.5,
  may_decide: true,
  may_not_decide_reason: null,
  read_at: null,
  status: 'waiting' as const,
};

/** A question to a person. Times are epoch seconds. */
export const InboxItem = z
  .object({
    _id: z.string(),
    kind: z.enum(['approval', 'memory', 'elicitation', 'authorization', 'run']),
    title: z.string(),
    body: z
      .record(z.string(), z.unknown())
      .describe(
        'The call or the preview that waits for an approval, what was found in a text, what an MCP server asks (its untrusted `message` and the JSON Schema of the answer), the MCP server that must be authorized again, or the run that is held because its person has no role that permits it (`approve` resumes it, `reject` ends it).',
      ),
    execution_id: z.string().nullable(),
    approval_id: z.string().nullable(),
    created_at: z.number(),
    expires_at: z.number().nullable().describe('Null: the item waits without a time limit.'),
    may_decide: z.boolean().describe('Whether the caller may decide it now.'),
    may_not_decide_reason: z.string().nullable().describe('Why the caller may not decide it; null if the caller may.'),
    read_at: z.number().nullable().describe('When the caller marked it as read.'),
    status: z.enum(['waiting', 'approved', 'edited', 'rejected', 'cancelled', 'expired']),
  })
  .meta({ id: 'InboxItem', example });
export type InboxItem = z.infer<typeof InboxItem>;
export type UnreadItem = Omit<InboxItem, 'read_at'>;

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
        '`accept`: an act whose outcome is unknown has taken effect, and is not repeated; an MCP server gets the `values` that it asks for. It learns of `reject` (declined) and `cancel` (no decision).',
      ),
    values: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('For the decision `accept` of an elicitation: the answer, which fits its schema.'),
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
