import { z } from 'zod';
import { exampleId, Id } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';
import type { ApprovalDocument } from '../../governance/approvals/record.js';
import type { ProjectNewsDocument } from '../../governance/change-notes.js';
import { isOver, type ExecutionDocument } from '../executions/record.js';
import type { MemoryDocument } from '../memories/record.js';
import type { ScheduleDocument } from '../schedules/record.js';

const base = {
  seq: z
    .int()
    .describe('The time of the change in epoch milliseconds. Send it as `Last-Event-ID`.')
    .meta({ example: 1764000000500 }),
  at: EpochSeconds,
};

/** What a run can wait for. */
const waitKinds = ['turn', 'preview', 'approval', 'elicitation', 'question', 'event', 'step'] as const;

/** `data` of one server-sent event of a project; its `id` is `seq`, its `event` is `type`. */
export const ProjectEvent = z
  .discriminatedUnion('type', [
    z
      .object({ ...base, type: z.literal('opened'), data: z.object({}) })
      .describe('The stream reports changes from now on. Read the lists once after this event.'),
    z
      .object({
        ...base,
        type: z.enum(['execution_created', 'execution_changed', 'execution_waiting', 'execution_ended']),
        data: z.object({
          execution_id: Id,
          agentflow_id: Id,
          status: z.enum(['ready', 'running', 'paused', 'completed', 'failed']),
          waiting_for: z.enum(waitKinds).nullable(),
          failure_reason: z.string().nullable().meta({ example: null }),
        }),
      })
      .meta({ id: 'ProjectEventExecution' }),
    z.object({
      ...base,
      type: z.literal('inbox_changed'),
      data: z.object({
        kind: z.enum(['approval', 'memory']),
        item_id: z.string().meta({ example: `approval:${exampleId}` }),
        status: z.string().meta({ example: 'pending' }),
      }),
    }),
    z.object({
      ...base,
      type: z.literal('schedule_changed'),
      data: z.object({ schedule_id: Id, status: z.string().meta({ example: 'active' }) }),
    }),
    z.object({
      ...base,
      type: z.literal('records_changed'),
      data: z.object({
        kind: z
          .string()
          .describe(
            'The first part of the name of the operations that changed them, such as `table` for `table.write-rows`. New kinds can be added.',
          )
          .meta({ example: 'table' }),
      }),
    }),
  ])
  .meta({ id: 'ProjectEvent' });
export type ProjectEvent = z.infer<typeof ProjectEvent>;

/** The fields of each record that the stream reads. */
export const shownFields = {
  executions: {
    projectID: 1,
    changed_at: 1,
    agentflow_id: 1,
    status: 1,
    'execution_context.waiting_for.kind': 1,
    'execution_context.waiting_for.approval_id': 1,
    'execution_context.failure.reason': 1,
  },
  approvals: { project_id: 1, changed_at: 1, status: 1 },
  memories: { project_id: 1, changed_at: 1, status: 1 },
  schedules: { projectID: 1, changed_at: 1, status: 1, is_deleted: 1 },
  project_news: { project_id: 1, changed_at: 1, kind: 1 },
} as const;

type Shown<D> = D & { changed_at: number };

export function toExecutionEvent(record: Shown<ExecutionDocument>): ProjectEvent {
  const { _id, agentflow_id, status, execution_context, changed_at } = record;
  const { waiting_for, failure } = execution_context as {
    waiting_for?: { kind?: (typeof waitKinds)[number] } | null;
    failure?: { reason?: string };
  };
  const waits = isOver(status) ? null : (waiting_for?.kind ?? null);
  return {
    ...timesOf(changed_at),
    type: executionEventType(status, waits),
    data: { execution_id: _id, agentflow_id, status, waiting_for: waits, failure_reason: failure?.reason ?? null },
  };
}

function executionEventType(status: ExecutionDocument['status'], waits: string | null) {
  if (isOver(status)) return 'execution_ended';
  // A step that is retried, and a run that waits for its turn, do not wait for a person.
  if (waits !== null && waits !== 'step' && waits !== 'turn') return 'execution_waiting';
  return status === 'ready' && waits === null ? 'execution_created' : 'execution_changed';
}

export function toApprovalEvent({ _id, status, changed_at }: Shown<ApprovalDocument>): ProjectEvent {
  return toInboxEvent('approval', _id, status, changed_at);
}

export function toMemoryEvent({ _id, status, changed_at }: Shown<MemoryDocument>): ProjectEvent {
  return toInboxEvent('memory', _id, status, changed_at);
}

function toInboxEvent(kind: 'approval' | 'memory', id: string, status: string, changed_at: number): ProjectEvent {
  return { ...timesOf(changed_at), type: 'inbox_changed', data: { kind, item_id: `${kind}:${id}`, status } };
}

export function toScheduleEvent({ _id, status, is_deleted, changed_at }: Shown<ScheduleDocument>): ProjectEvent {
  return {
    ...timesOf(changed_at),
    type: 'schedule_changed',
    data: { schedule_id: _id, status: is_deleted ? 'deleted' : status },
  };
}

export function toRecordsEvent({ kind, changed_at }: ProjectNewsDocument): ProjectEvent {
  return { ...timesOf(changed_at), type: 'records_changed', data: { kind } };
}

export function openedEvent(seq: number): ProjectEvent {
  return { ...timesOf(seq), type: 'opened', data: {} };
}

const timesOf = (changed_at: number) => ({ seq: changed_at, at: changed_at / 1000 });
