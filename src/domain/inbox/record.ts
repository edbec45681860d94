import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { type ExecutionDocument } from '../executions/record.js';
import { exampleId } from '../../ids.js';

const example = {
  _id: 'preview:0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10:writer:1764000000500',
  kind: 'preview' as const,
  title: 'Newcomer guide: Writer',
  body: {
    agent_id: 'writer',
    preview_id: 'writer/output/preview',
    goal: 'Brief the newcomer',
    kind: 'output',
    proposed: { output: 'Welcome!' },
  },
  execution_id: exampleId,
  approval_id: null,
  created_at: 1764000000.5,
  expires_at: 1764086400.5,
  read_at: null,
  status: 'waiting' as const,
};

/** A question to a person. Times are epoch seconds. */
export const InboxItem = z
  .object({
    _id: z.string(),
    kind: z.enum(['preview', 'approval']),
    title: z.string(),
    body: z
      .record(z.string(), z.unknown())
      .meta({ description: 'The preview of an agent, or the call that a policy holds.' }),
    execution_id: z.string().nullable(),
    approval_id: z.string().nullable(),
    created_at: z.number(),
    expires_at: z.number(),
    read_at: z.number().nullable().meta({ description: 'When the caller marked it as read.' }),
    status: z.enum(['waiting', 'approved', 'edited', 'rejected', 'expired']),
  })
  .meta({ id: 'InboxItem', example });
export type InboxItem = z.infer<typeof InboxItem>;
export type UnreadItem = Omit<InboxItem, 'read_at'>;
export type Preview = ExecutionDocument['previews'][string];

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
    edits: z
      .union([z.string().max(200_000), z.record(z.string(), z.unknown())])
      .nullish()
      .meta({ description: 'Changes to a preview that is approved.' }),
    reason: z.string().max(500).optional(),
  })
  .meta({ id: 'InboxReply', example: { decision: 'approve', reason: 'As agreed' } });
export type InboxReply = z.infer<typeof InboxReply>;

export type Reply = Pick<InboxReply, 'decision' | 'edits' | 'reason'>;

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
