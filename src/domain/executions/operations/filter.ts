import type { Filter } from 'mongodb';
import { z } from 'zod';
import { seesAllRuns, type Principal } from '../../../auth/principal.js';
import { AppError } from '../../../base/errors.js';
import { queryNumber } from '../../../base/validation.js';
import { containing, SearchText } from '../../../stores/lists.js';
import { Execution, type ExecutionDocument } from '../record.js';

const waitsForPerson = 'execution_context.waiting_for.kind';
const failureReason = 'execution_context.failure.reason';
const personKinds = ['preview', 'approval', 'elicitation', 'question'] as const;
const personWaits = { $in: personKinds };

/** The state that people see: the status of the run, or that it waits for a person or was cancelled. */
export const filterOfState = {
  ready: { status: 'ready' },
  running: { status: 'running', [waitsForPerson]: { $not: personWaits } },
  waiting: { status: { $ne: 'paused' }, [waitsForPerson]: personWaits },
  paused: { status: 'paused' },
  completed: { status: 'completed' },
  failed: { status: 'failed', [failureReason]: { $ne: 'cancelled' } },
  cancelled: { [failureReason]: 'cancelled' },
} as const satisfies Record<string, Filter<ExecutionDocument>>;
/** The condition of lists: a run that works on items of another run is a part of it. */
export const isNoSlice = { 'flow.slice': { $exists: false } } as const;
type State = keyof typeof filterOfState;

/** The filters of lists of executions and tasks. */
export const ExecutionFilter = z.object({
  status: Execution.shape.status.optional(),
  state: z
    .enum(Object.keys(filterOfState) as [State, ...State[]])
    .optional()
    .describe(
      'Like `status`, except that executions that wait for a person are `waiting` instead of `running`, and cancelled ones are `cancelled` instead of `failed`.',
    ),
  from: queryNumber(z.number().min(0)).optional().describe('Only executions that were created at this time or later.'),
  to: queryNumber(z.number().min(0)).optional().describe('Only executions that were created at this time or earlier.'),
  text: SearchText.optional().describe(
    'Only executions whose goal or agentflow name contains this text (ignoring case), or with this id.',
  ),
  agentflow_id: z.string().optional(),
  agentflow_version: queryNumber(z.int().min(1))
    .optional()
    .describe('Only executions of this release of the agentflow; send `agentflow_id` too. Drafts have no version.'),
  executed_by: z.string().optional().describe('Only executions that this user started (`executed_by._id`).'),
  schedule_id: z.string().optional().describe('Only executions that this schedule started.'),
  waiting_for: z
    .enum([...personKinds, 'turn', 'event'])
    .optional()
    .describe('Only open executions that wait for this: a decision or answer of a person, their turn, or an event.'),
  failure_reason: z
    .enum([
      'cancelled',
      'step_failed',
      'limit_exceeded',
      'preview_rejected',
      'preview_expired',
      'terminated',
      'timed_out',
      'lost',
    ])
    .optional()
    .describe('Only failed executions with this `execution_context.failure.reason`.'),
});

/** @throws AppError `invalid_request` for a version without its agentflow */
export function filterOf(principal: Principal, query: z.infer<typeof ExecutionFilter>): Filter<ExecutionDocument> {
  const { status, state, from, to, text, waiting_for, failure_reason } = query;
  const { agentflow_id, agentflow_version, executed_by, schedule_id } = query;
  if (agentflow_version !== undefined && agentflow_id === undefined)
    throw new AppError('invalid_request', 'agentflow_version: send the agentflow_id of this version too');
  const more = [
    ...(seesAllRuns(principal) ? [] : [{ 'executed_by._id': principal.userId }]),
    ...(state ? [filterOfState[state]] : []),
    ...(text === undefined ? [] : [containing(text, 'goal', 'agentflow.name')]),
  ];
  const during = { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lte: to }) };
  return {
    projectID: principal.projectId,
    ...isNoSlice,
    ...(status && { status }),
    ...(agentflow_id !== undefined && { agentflow_id }),
    ...(agentflow_version !== undefined && { 'flow.agentflow_version': agentflow_version }),
    ...(executed_by !== undefined && { 'executed_by._id': executed_by }),
    ...(schedule_id !== undefined && { schedule: schedule_id }),
    ...(waiting_for && { [waitsForPerson]: waiting_for }),
    ...(failure_reason && { [failureReason]: failure_reason }),
    ...(Object.keys(during).length > 0 && { created_at: during }),
    ...(more.length > 0 && { $and: more }),
  };
}
