import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../deps.js';
import { withWaitingStep } from '../pending-step.js';
import { readExecution, readLiveState, visibleRuns } from './read.js';
import { toExecution, type Execution, type ExecutionDocument } from '../record.js';
import { pick } from '../../../base/pick.js';
import { isNoSlice } from './filter.js';

const newestFields = ['execution_id', 'agentflow_id', 'goal', 'status', 'created_at', 'end_time'] as const;

/** The newest executions that the caller sees. */
export async function listNewest({ mongo }: Pick<Deps, 'mongo'>, principal: Principal, limit: number) {
  const newest = await mongo.collections.executions
    .find(
      { ...visibleRuns(principal), ...isNoSlice },
      { projection: Object.fromEntries(newestFields.map((name) => [name, 1])) },
    )
    .sort({ created_at: -1, _id: -1 })
    .limit(limit)
    .toArray();
  return newest.map((record) => pick(record, ...newestFields));
}

/** The current state of an execution. @throws AppError `not_found` */
export async function readLive(deps: Deps, principal: Principal, executionId: string): Promise<Execution> {
  return toLiveExecution(deps, await readExecution(deps, principal, executionId));
}

/** The current state of a record: from its workflow while it runs, otherwise from the record itself. */
export async function toLiveExecution(deps: Deps, stored: ExecutionDocument): Promise<Execution> {
  const found = await readLiveState(deps, stored);
  return withWaitingStep(deps, toExecution(found.record, found.live), found);
}
