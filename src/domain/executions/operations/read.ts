import { QueryRejectedError, type WorkflowExecutionDescription } from '@temporalio/client';
import {
  eventsQuery,
  executionWorkflowId,
  type ExecutionEvent,
  type ExecutionState,
} from '../../../../workflows/agentflow-execution/messages.js';
import { withPaths } from '../../../../workflows/agentflow-execution/earlier-state.js';
import { seesAllRuns, type Principal } from '../../../auth/principal.js';
import { isAppError, notFound } from '../../../base/errors.js';
import { isId } from '../../../base/ids.js';
import type { Mongo } from '../../../stores/mongo.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { reconcile, type ReconcileDeps } from '../reconcile.js';
import { isOver, type ExecutionDocument } from '../record.js';
import { queryTimeoutMs, type ReadState } from '../shared-states.js';

/**
 * Reads the record, or only some of its fields: the record of a long run is large.
 * @throws AppError `not_found` for an unknown or malformed id, and for an execution that the caller does not see
 */
export async function readExecution<Field extends keyof ExecutionDocument = keyof ExecutionDocument>(
  deps: { mongo: Mongo },
  principal: Principal,
  id: string,
  fields?: readonly Field[],
): Promise<Pick<ExecutionDocument, Field>> {
  const { executions } = deps.mongo.collections;
  const projection = fields && Object.fromEntries(['projectID', 'executed_by', ...fields].map((field) => [field, 1]));
  const record = isId(id) ? await executions.findOne({ _id: id }, { ...(projection && { projection }) }) : null;
  if (!record || !mayReadRun(principal, record)) throw notFound('the execution');
  return record;
}

/** Whether the run belongs to the caller's project, and to its person if the caller sees only its own runs. */
export function mayReadRun(
  principal: Principal,
  { projectID, executed_by }: Pick<ExecutionDocument, 'projectID' | 'executed_by'>,
): boolean {
  return projectID === principal.projectId && (seesAllRuns(principal) || executed_by._id === principal.userId);
}

/** The filter of the runs that the caller sees. */
export function visibleRuns(principal: Principal): { projectID: string; 'executed_by._id'?: string } {
  const own = seesAllRuns(principal) ? {} : { 'executed_by._id': principal.userId };
  return { projectID: principal.projectId, ...own };
}

export interface LiveExecution {
  record: ExecutionDocument;
  /** The state of an open run from its workflow. Undefined if there is none or no worker answers in time. */
  live: ExecutionState | undefined;
  /** The description of the run by Temporal, if the run is open according to the record. */
  run: WorkflowExecutionDescription | undefined;
}

/**
 * The record, and for an open run the state of its workflow. If Temporal has closed the run, records its end first. The
 * description by Temporal shows whether the state can have changed, without a query of the workflow.
 */
export async function readLiveState(
  deps: ReconcileDeps & { readRunState: ReadState },
  record: ExecutionDocument,
  run?: WorkflowExecutionDescription,
): Promise<LiveExecution> {
  const { temporal } = deps;
  const live = await ask(record, async () => {
    const handle = temporal.client.workflow.getHandle(executionWorkflowId(record._id));
    run ??= await temporal.call(() => handle.describe(), queryTimeoutMs);
    if (run.status.name !== 'RUNNING' && run.status.name !== 'PAUSED') return 'closed';
    return withPaths(await deps.readRunState(record._id, run), { ...record.flow, ...planOf(record) });
  });
  return live === 'closed' ? { record: await reconcile(deps, record), live: undefined, run } : { record, live, run };
}

/** What a state of an earlier release is completed with. */
function planOf({ plan, start_from_agent_id, agentflow }: ExecutionDocument) {
  return { agents: plan, first_agent_id: start_from_agent_id ?? agentflow.initialAgent };
}

/**
 * The newest events of a run, which may not be in the store yet. Undefined if the workflow does not answer. Records the
 * end of a run that Temporal has closed, after the events that were `shown`, and returns the record with it.
 */
export async function readLiveEvents<R extends RunReference>(
  deps: ReconcileDeps,
  record: R,
  shown: () => readonly ExecutionEvent[],
): Promise<{ record: R | ExecutionDocument; live: ExecutionEvent[] | undefined }> {
  const workflowId = executionWorkflowId(record._id);
  const live = await ask(record, () => deps.temporal.queryOpenRun(workflowId, eventsQuery, queryTimeoutMs));
  return live === 'closed' ? { record: await reconcile(deps, record, shown()), live: undefined } : { record, live };
}

type RunReference = Pick<ExecutionDocument, '_id' | 'status' | 'started_at' | 'last_event_seq'>;

/** @returns `closed` if the run is open according to its record, but closed in Temporal */
async function ask<T>(record: RunReference, work: () => Promise<T>): Promise<T | 'closed' | undefined> {
  if (isOver(record.status)) return undefined;
  try {
    return await work();
  } catch (error) {
    if (error instanceof QueryRejectedError) return 'closed';
    // An execution that has not started has no run yet.
    if (isWorkflowGone(error)) return record.started_at === null ? undefined : 'closed';
    if (isAppError(error)) return undefined;
    throw error;
  }
}
