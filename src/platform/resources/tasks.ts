import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { notFound } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../http/lists.js';
import { isId } from '../../ids.js';
import { move } from './executions/moves.js';
import { liveState } from './executions/read.js';
import { Execution, toExecution, type ExecutionDocument } from './executions/record.js';

const { status: Status, executed_by, schedule, projectID, execution_id, agentflow_id, parent_execution_id, goal, created_at, end_time } = Execution.shape;

/** How many characters of agentflow and goal a task is named by. */
export const taskNameLength = 200;

/** A task: what one execution does, as a person plans and follows it. Times are epoch seconds. */
export const Task = z
  .object({
    _id: z.string(),
    name: z.string().meta({ description: 'Agentflow and goal, cut to 200 characters.' }),
    projectID,
    execution_id,
    agentflow_id,
    parent_execution_id,
    status: Status,
    goal,
    schedule,
    created_at,
    end_time,
    executed_by,
  })
  .meta({
    id: 'Task',
    example: {
      _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
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
      executed_by: { _id: 'u1', metadata: null, name: 'u1', type: 'manual' },
    },
  });
export type Task = z.infer<typeof Task>;

const TaskMove = z.strictObject({ projectID: z.string().optional(), reason: z.string().max(500).optional() }).meta({ id: 'TaskMove', example: { reason: 'No longer needed' } });
const TaskStatus = z
  .object({ task_id: z.string(), execution_id: z.string(), status: Status })
  .meta({ id: 'TaskStatus', example: { task_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', execution_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a11', status: 'paused' } });

const tag = 'tasks';
const params = z.object({ id: z.string() });
const query = z.object({ projectID: z.string().optional() });
const moves = [
  { name: 'pause', operation: 'pause', summary: 'Pause a running task at the next step boundary' },
  { name: 'resume', operation: 'resume', summary: 'Go on with a paused task' },
  { name: 'stop', operation: 'cancel', summary: 'End a task that has not ended' },
] as const;

/** Tasks are a view over executions, so that the two cannot differ (contract, tasks). */
export function taskRoutes(deps: Deps): Route[] {
  const list = defineRoute({
    method: 'get',
    path: '/task',
    permission: 'svc:orchestrate.read',
    tag,
    query: ListQuery.extend({ ...query.shape, status: Status.optional(), agentflow_id: z.string().optional() }),
    summary: 'List tasks, newest first',
    response: { schema: listOf(Task), description: 'One page of tasks.' },
    handler: async ({ ctx, query: { status, agentflow_id, ...paging } }) => {
      const filter = { projectID: ctx.principal.projectId, ...(status && { status }), ...(agentflow_id !== undefined && { agentflow_id }) };
      const page = await listPage(deps.mongo.collections.executions, filter, paging);
      return { ...page, data: page.data.map((record) => toTask(record)) };
    },
  });
  const read = defineRoute({
    method: 'get',
    path: '/task/{id}',
    permission: 'svc:orchestrate.read',
    tag,
    params,
    query,
    summary: 'Read a task, live while it runs',
    response: { schema: Task, description: 'The task.' },
    handler: async ({ ctx, params: { id } }) => {
      const record = await findTask(deps, ctx.principal, id);
      return toTask(toExecution(record, await liveState(deps, record)));
    },
  });
  return [list, read, ...moves.map((each) => moveRoute(deps, each))];
}

function moveRoute(deps: Deps, { name, operation, summary }: (typeof moves)[number]): Route {
  return defineRoute({
    method: 'post',
    path: `/task/{id}/${name}`,
    permission: 'svc:orchestrate.write',
    tag,
    params,
    query,
    summary,
    body: TaskMove,
    response: { schema: TaskStatus, description: 'The new status, of the task and of its execution.' },
    errors: ['conflict'],
    handler: async ({ ctx, params: { id }, body }) => {
      const { task_id, execution_id } = await findTask(deps, ctx.principal, id);
      return { task_id, ...(await move(deps, ctx.principal, execution_id, operation, body.reason)) };
    },
  });
}

/** @throws AppError `not_found`, alike for an unknown and a malformed id and for a task of another project */
async function findTask({ mongo }: Pick<Deps, 'mongo'>, principal: Principal, id: string): Promise<ExecutionDocument> {
  const record = isId(id) ? await mongo.collections.executions.findOne({ task_id: id }) : null;
  if (record?.projectID !== principal.projectId) throw notFound('the task');
  return record;
}

function toTask(execution: Execution): Task {
  const { task_id, projectID, execution_id, agentflow_id, parent_execution_id, status, goal, schedule, created_at, end_time, executed_by } = execution;
  const name = [...`${execution.agentflow.name}: ${goal}`].slice(0, taskNameLength).join('');
  return { _id: task_id, name, projectID, execution_id, agentflow_id, parent_execution_id, status, goal, schedule, created_at, end_time, executed_by };
}

/** The same view as pipeline stages, for what reads tasks by the thousand. */
export const taskView = {
  $project: {
    ...Object.fromEntries(Object.keys(Task.shape).map((field) => [field, 1])),
    _id: '$task_id',
    name: { $substrCP: [{ $concat: ['$agentflow.name', ': ', '$goal'] }, 0, taskNameLength] },
  },
};
