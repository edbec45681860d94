import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  agentflowExecutionType,
  cancelUpdate,
  executionWorkflowId,
  pauseUpdate,
  resumeUpdate,
  type AgentflowExecutionInput,
  type ExecutionStatus,
  type MoveRequest,
  type MoveResult,
} from '../../../../workflows/agentflow-execution/messages.js';
import { refusalOf, type Move } from '../../../../workflows/agentflow-execution/state.js';
import { startChildUpdate, type StartChildRequest } from '../../../../workflows/agentflow-execution/child-messages.js';
import type { Principal } from '../../../auth/principal.js';
import { publicUrlOf } from '../../../config.js';
import type { Deps } from '../../deps.js';
import { AppError } from '../../../base/errors.js';
import { newId } from '../../../base/ids.js';
import { sha256Hex } from '../../../base/hash.js';
import { attributePairs, type AttributeValues } from '../../../../workflows/search-attributes.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { startOnce } from '../../../temporal/start-once.js';
import { outcomeOfUpdate, updateOnce } from '../../../temporal/update-once.js';
import { clearHold, requireResumable } from './hold.js';
import { initialStatus, inputOf } from './input-of-run.js';
import { readLiveState, readExecution } from './read.js';
import { isOver, type ExecutionDocument } from '../record.js';
import { refuseSlice } from '../slices.js';

/**
 * Starts the run. The workflow id is derived from the execution id, so only one of several calls starts it. A repeat with
 * the same `Idempotency-Key` gets the first response, even after a crash: the memo contains a hash of the key.
 * @throws AppError `conflict` with the current status if the execution was already started, `plan_limit` without credits
 */
export async function execute(
  deps: Deps,
  principal: Principal,
  id: string,
  idempotencyKey?: string,
): Promise<MoveResult> {
  const record = await readExecution(deps, principal, id);
  refuseSlice(record, 'start');
  const request = idempotencyKey === undefined ? null : sha256Hex(`${principal.userId} ${idempotencyKey}`);
  if (record.status === 'ready') {
    await deps.customers
      .reserveCredits(record.organization_id, { kind: 'execution', id })
      .catch(async (refusal: unknown) => {
        // This execution may have used the last credits.
        if (request === null || (await readStartRequest(deps, id)) !== request) throw refusal;
      });
  }
  await noteStarter(deps, principal, record);
  const isFirst = await startRun(deps, record, inputOf(deps, record), request);
  if (isFirst || (request !== null && (await readStartRequest(deps, id)) === request))
    return { execution_id: id, status: 'ready' };
  const status = await currentStatus(deps, principal, id);
  throw status === 'ready'
    ? new AppError('conflict', 'the execution was already started and is about to run')
    : conflict('execute', status);
}

/** Records who starts a run that another person prepared, before the run can request an approval. */
async function noteStarter(
  { mongo }: Deps,
  { userId }: Principal,
  { _id, executed_by, status }: ExecutionDocument,
): Promise<void> {
  if (status !== 'ready' || userId === executed_by._id) return;
  await mongo.collections.executions.updateOne(
    { _id, status },
    { $addToSet: { caused_by: userId, directed_by: userId } },
  );
}

/** @returns false if the run was already started. Checks the record too, because Temporal deletes old runs. */
async function startRun(
  deps: Deps,
  record: ExecutionDocument,
  input: AgentflowExecutionInput,
  request: string | null,
): Promise<boolean> {
  if (record.status !== 'ready') return false;
  const { attributes, ...options } = startOptions(deps, record, request);
  const inParent = await startInParent(deps, record, { ...options, attributes, input });
  if (inParent !== 'no parent runs') return inParent === 'started';
  return startOnce(deps.temporal, agentflowExecutionType, {
    ...options,
    typedSearchAttributes: attributePairs(attributes),
    args: [input],
  });
}

/**
 * Asks the workflow of the parent to start an execution as its child workflow.
 * @throws AppError `unavailable` if no worker answers for the parent
 */
async function startInParent(
  deps: Deps,
  { parent_execution_id: parentId }: ExecutionDocument,
  request: StartChildRequest,
): Promise<'started' | 'started before' | 'no parent runs'> {
  if (parentId === null) return 'no parent runs';
  const parent = await deps.mongo.collections.executions.findOne({ _id: parentId }, { projection: { status: 1 } });
  if (!parent || isOver(parent.status)) return 'no parent runs';
  try {
    const started = await updateOnce(deps.temporal, executionWorkflowId(parentId), startChildUpdate, {
      args: [request],
      updateId: newId(),
    });
    return started ? 'started' : 'started before';
  } catch (error) {
    // The parent was never started, or it has ended and its record is not updated yet.
    if (isWorkflowGone(error) || error instanceof WorkflowUpdateFailedError) return 'no parent runs';
    throw error;
  }
}

async function readStartRequest(deps: Deps, id: string): Promise<unknown> {
  try {
    const description = await deps.temporal.call((client) =>
      client.workflow.getHandle(executionWorkflowId(id)).describe(),
    );
    return description.memo?.execute_request;
  } catch (error) {
    if (isWorkflowGone(error)) return undefined;
    throw error;
  }
}

/** The request for another workflow to start an execution as its child. */
export function startRequestOf(deps: Deps, record: ExecutionDocument): StartChildRequest {
  return { ...startOptions(deps, record, null), input: inputOf(deps, record) };
}

/** The options of a run, whether a client or its parent workflow starts it. */
function startOptions({ temporal, config }: Deps, record: ExecutionDocument, request: string | null) {
  const { parent_execution_id, execution_context } = record;
  const { lifecycle_id } = execution_context;
  const attributes: AttributeValues = {
    projectId: record.projectID,
    organizationId: record.organization_id,
    agentflowId: record.agentflow_id,
    agentflowStatus: initialStatus,
    executedBy: record.executed_by._id,
    ...(typeof lifecycle_id === 'string' && { lifecycleId: lifecycle_id }),
  };
  return {
    taskQueue: temporal.taskQueue,
    workflowId: executionWorkflowId(record._id),
    memo: {
      project: record.projectID,
      ...(request === null ? {} : { execute_request: request }),
      ...(parent_execution_id === null ? {} : { parent_execution_id }),
    },
    staticSummary: `${record.agentflow.name}: ${record.goal}`.slice(0, 200),
    staticDetails: `[Open in the console](${consoleUrlOf(config, record)})`,
    attributes,
  };
}

/** The Temporal UI links to the run's page in the console, which links back (`temporal_ui_url`). */
function consoleUrlOf(config: Deps['config'], { _id, projectID }: ExecutionDocument): string {
  return `${publicUrlOf(config)}/console/projects/${encodeURIComponent(projectID)}/runs/${_id}`;
}

/**
 * Requests a status change from the workflow, which decides on it (contract, State rules). Idempotent by `updateId`.
 * @throws AppError `conflict` with the current status if it does not allow the change, `unavailable` without a worker
 */
export async function move(
  deps: Deps,
  principal: Principal,
  id: string,
  name: Move,
  { reason, updateId = newId() }: { reason?: string | undefined; updateId?: string } = {},
): Promise<MoveResult> {
  const { status: recorded } = await readExecution(deps, principal, id, ['status']);
  if (name === 'resume') await requireResumable(deps.mongo.collections, await readExecution(deps, principal, id));
  const request: MoveRequest = {
    by: principal.userId,
    ...(reason !== undefined && { reason }),
    ...(name !== 'cancel' && { is_recorded_by_caller: true }),
  };
  const cancelled: MoveResult = { execution_id: id, status: 'failed' };
  if (name === 'cancel' && recorded === 'ready') {
    // An execution that was never started also ends through its workflow, which starts as cancelled.
    const record = await readExecution(deps, principal, id);
    if (await startRun(deps, record, { ...inputOf(deps, record), cancelled: request }, updateId)) return cancelled;
  }
  const update = { pause: pauseUpdate, resume: resumeUpdate, cancel: cancelUpdate }[name];
  const workflowId = executionWorkflowId(id);
  try {
    // The last workflow task of a run writes the record before it commits. A move that reaches the run between the two would
    // contradict the record, so only the outcome of an earlier request with the same id is returned.
    const { seq, ...moved } = isOver(recorded)
      ? await outcomeOfUpdate<MoveResult>(deps.temporal, workflowId, updateId)
      : await updateOnce(deps.temporal, workflowId, update, { args: [request], updateId });
    if (name === 'resume') await clearHold(deps.mongo.collections, id);
    // Delays no answer. If it fails, the run writes the status in a few seconds.
    if (seq !== undefined) void recordMove(deps, moved, seq).catch(() => undefined);
    return moved;
  } catch (error) {
    if (
      name === 'cancel' &&
      recorded !== 'ready' &&
      isWorkflowGone(error) &&
      (await readStartRequest(deps, id)) === updateId
    )
      return cancelled;
    if (error instanceof WorkflowUpdateFailedError || isWorkflowGone(error)) {
      const status = isOver(recorded) ? recorded : statusInRefusal(error);
      throw conflict(name, status ?? (await currentStatus(deps, principal, id)));
    }
    throw error;
  }
}

/** Writes the new status to the record, unless it is newer. A write by the run would cost a workflow task (decision 0003). */
export async function recordMove(
  { mongo }: Pick<Deps, 'mongo'>,
  { execution_id: _id, status }: MoveResult,
  seq: number,
): Promise<void> {
  const isOlder = { last_event_seq: { $lt: seq }, $or: [{ moved_seq: { $lt: seq } }, { moved_seq: null }] };
  await mongo.collections.executions.updateOne(
    // A record that is still `ready` lacks the start of the run, which the run writes first.
    { _id, status: { $in: ['running', 'paused'] }, ...isOlder },
    { $set: { status, moved_seq: seq, changed_at: Date.now() } },
  );
}

/** Dry run of `move`. @throws AppError `conflict` with the current status */
export async function checkMove(deps: Deps, principal: Principal, id: string, name: Move): Promise<MoveResult> {
  const status = await currentStatus(deps, principal, id);
  if (refusalOf(name, status) !== undefined) throw conflict(name, status);
  return { execution_id: id, status };
}

/** The status with which the workflow's validator refused the change. */
function statusInRefusal(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  return typeof details === 'object' && details !== null && 'status' in details ? details.status : undefined;
}

export async function currentStatus(deps: Deps, principal: Principal, id: string): Promise<ExecutionStatus> {
  const { record, live } = await readLiveState(deps, await readExecution(deps, principal, id));
  return live?.status ?? record.status;
}

function conflict(name: string, status: unknown): AppError {
  return new AppError('conflict', `the execution is ${String(status)}: ${name} is not possible`);
}
