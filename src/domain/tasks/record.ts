import { z } from 'zod';
import { Execution } from '../executions/record.js';
import { exampleId } from '../../base/ids.js';
import { pick } from '../../base/pick.js';

/** The fields that a task shares with its execution. */
export const sharedFields = [
  'projectID',
  'execution_id',
  'agentflow_id',
  'parent_execution_id',
  'status',
  'goal',
  'schedule',
  'created_at',
  'end_time',
  'executed_by',
] as const;

/** The maximum length of a task name, in characters. */
export const taskNameLength = 200;

/** A task: the view of one execution for planning and tracking. Times are epoch seconds. */
export const Task = z
  .object({
    _id: z.string(),
    name: z.string().describe('The agentflow and the goal, truncated to 200 characters.'),
    ...pick(Execution.shape, ...sharedFields),
    waiting_for: z
      .unknown()
      .describe('What an open task waits for: `execution_context.waiting_for` of its execution, or null.'),
    failure: z
      .unknown()
      .describe(
        'Why a task failed: `execution_context.failure` of its execution. A cancelled task has the reason `cancelled`.',
      ),
  })
  .meta({
    id: 'Task',
    example: {
      _id: exampleId,
      name: 'Newcomer guide: Brief the newcomer',
      projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      execution_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a11',
      agentflow_id: '0199a6f0-1111-7c11-8d52-3f6f0e6f7a10',
      parent_execution_id: null,
      status: 'running',
      goal: 'Brief the newcomer',
      schedule: null,
      created_at: 1764000000.5,
      end_time: null,
      executed_by: { _id: 'u1', metadata: null, name: 'Ada Lovelace', type: 'manual' },
      waiting_for: null,
      failure: null,
    },
  });
export type Task = z.infer<typeof Task>;

export const TaskMove = z
  .strictObject({ projectID: z.string().optional(), reason: z.string().max(500).optional() })
  .meta({ id: 'TaskMove', example: { reason: 'No longer needed' } });

export const TaskStatus = z
  .object({ task_id: z.string(), execution_id: z.string(), status: Execution.shape.status })
  .meta({
    id: 'MovedTask',
    example: { task_id: exampleId, execution_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a11', status: 'paused' },
  });

/** The view of a task as a stage of an aggregation pipeline. */
export const taskProjection = {
  $project: {
    ...Object.fromEntries(Object.keys(Task.shape).map((field) => [field, 1])),
    _id: '$task_id',
    waiting_for: '$execution_context.waiting_for',
    failure: '$execution_context.failure',
    name: { $substrCP: [{ $concat: ['$agentflow.name', ': ', '$goal'] }, 0, taskNameLength] },
  },
};
