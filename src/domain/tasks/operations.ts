import { z } from 'zod';
import { steeringRuns } from '../../auth/grants.js';
import type { Principal } from '../../auth/principal.js';
import { notFound } from '../../base/errors.js';
import { Id, isId } from '../../base/ids.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import type { Deps } from '../deps.js';
import { ExecutionFilter, filterOf } from '../executions/operations/filter.js';
import type { Execution, ExecutionDocument } from '../executions/record.js';
import { mayReadRun } from '../executions/operations/read.js';
import { move } from '../executions/operations/moves.js';
import { toLiveExecution } from '../executions/operations/live.js';
import { steerRules, type moves } from '../executions/rules.js';
import { defineOperation, readsOwn, writes } from '../operation.js';
import { sharedFields, Task, taskNameLength, TaskMove, TaskStatus } from './record.js';
import { pick } from '../../base/pick.js';

const key = z.object({ id: Id });

/** The fields of executions that `toTask` needs. */
const shown = Object.fromEntries(
  [...sharedFields, 'task_id', 'agentflow.name', 'execution_context'].map((name) => [name, 1]),
);

export const listTasks = defineOperation({
  name: 'task.list',
  ...readsOwn,
  input: ListQuery.extend(ExecutionFilter.shape),
  output: listOf(Task),
  async run({ deps, ctx, input }) {
    const { executions } = deps.mongo.collections;
    const page = await listPage(executions, filterOf(ctx.principal, input), input, 'created_at', shown);
    return { ...page, data: page.data.map((record) => toTask(record)) };
  },
});

export const readTask = defineOperation({
  name: 'task.read',
  ...readsOwn,
  key,
  output: Task,
  run: async ({ deps, ctx, key: { id } }) =>
    toTask(await toLiveExecution(deps, await findTask(deps, ctx.principal, id))),
});

export const pauseTask = moveOperation('pause');
export const resumeTask = moveOperation('resume');
export const stopTask = moveOperation('cancel');

/** Moves the execution of the task. Throws `conflict` for a move that its status does not allow. */
function moveOperation(operation: (typeof moves)[number]) {
  return defineOperation({
    ...steerRules,
    ...writes,
    right: steeringRuns,
    fixedFacts: { operation },
    key,
    input: TaskMove,
    output: TaskStatus,
    errors: ['conflict'],
    async lookUp({ deps, ctx, key: { id } }) {
      const { execution_id } = await findTask(deps, ctx.principal, id);
      return { resource: { type: 'execution', id: execution_id }, facts: { execution_id } };
    },
    async run({ deps, ctx: { principal, recordId }, key: { id }, input: { reason } }) {
      const { task_id, execution_id } = await findTask(deps, principal, id);
      return { task_id, ...(await move(deps, principal, execution_id, operation, { reason, updateId: recordId })) };
    },
  });
}

/** @throws AppError `not_found` for an unknown or malformed id, and for a task of another project */
async function findTask({ mongo }: Deps, principal: Principal, id: string): Promise<ExecutionDocument> {
  const record = isId(id) ? await mongo.collections.executions.findOne({ task_id: id }) : null;
  if (!record || !mayReadRun(principal, record)) throw notFound('the task');
  return record;
}

function toTask(execution: Omit<Execution, 'projected_at' | 'agentflow_version' | 'draft' | 'release'>): Task {
  const { waiting_for = null, failure = null } = execution.execution_context;
  const name = [...`${execution.agentflow.name}: ${execution.goal}`].slice(0, taskNameLength).join('');
  return { _id: execution.task_id, name, ...pick(execution, ...sharedFields), waiting_for, failure };
}
