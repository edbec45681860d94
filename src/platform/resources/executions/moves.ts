import { createHash } from 'node:crypto';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
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
import type { StartChildRequest } from '../../../../workflows/agentflow-execution/child-messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { attributePairs, type AttributeValues } from '../../../../workflows/search-attributes.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { liveState, readExecution } from './read.js';
import type { ExecutionDocument } from './record.js';
import { startInParent } from './start-in-parent.js';

/** Continue as new before the server's own limits; small enough that a replay after a lost worker is quick. */
const maxHistoryEvents = 5000;

/**
 * Starts the run: the workflow's id is the execution's, so that of many calls one starts it. A repeat under the same
 * `Idempotency-Key` gets the first answer even if that was lost with its process: the key's hash is in the memo.
 * @throws AppError `conflict` with the present status when it was started before, `plan_limit` without credits
 */
export async function execute(deps: Deps, principal: Principal, id: string, idempotencyKey?: string): Promise<MoveResult> {
  const record = await readExecution(deps, principal, id);
  const request = idempotencyKey === undefined ? null : sha256(`${principal.userId} ${idempotencyKey}`);
  if (record.status === 'ready') {
    await deps.customers.requireCredits(record.organization_id).catch(async (refusal: unknown) => {
      // The credits may have gone to this very execution.
      if (request === null || (await requestThatStarted(deps, id)) !== request) throw refusal;
    });
  }
  const isFirst = await startOnce(deps, record, inputOf(record), request);
  if (isFirst || (request !== null && (await requestThatStarted(deps, id)) === request)) return { execution_id: id, status: 'ready' };
  const status = await presentStatus(deps, principal, id);
  throw status === 'ready' ? new AppError('conflict', 'the execution is ready and was executed already: it is about to run') : conflict('execute', status);
}

/** False when it was started before. Only a record in `ready` is tried: Temporal forgets old runs, the record does not. */
async function startOnce(deps: Deps, record: ExecutionDocument, input: AgentflowExecutionInput, request: string | null): Promise<boolean> {
  if (record.status !== 'ready') return false;
  const { attributes, ...plain } = startOptions(deps, record, request);
  const inParent = await startInParent(deps, record, { ...plain, attributes, input });
  if (inParent !== 'no parent runs') return inParent === 'started';
  const options = { ...plain, ...onceOnly, typedSearchAttributes: attributePairs(attributes), args: [input] as [AgentflowExecutionInput] };
  try {
    await deps.temporal.call((client) => client.workflow.start(agentflowExecutionType, options));
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

async function requestThatStarted(deps: Deps, id: string): Promise<unknown> {
  try {
    const description = await deps.temporal.call((client) => client.workflow.getHandle(executionWorkflowId(id)).describe());
    return description.memo?.execute_request;
  } catch (error) {
    if (isWorkflowGone(error)) return undefined;
    throw error;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A run that has begun is running; saying so at once saves the first change of its search attribute. */
const indexedAtStart = 'running';

const onceOnly = {
  workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
} as const;

/** What another workflow needs to start an execution as its child. */
export function startRequestOf(deps: Deps, record: ExecutionDocument): StartChildRequest {
  return { ...startOptions(deps, record, null), input: inputOf(record) };
}

/** What a run has whoever starts it: a client, or the run of its parent. */
function startOptions(deps: Deps, record: ExecutionDocument, request: string | null) {
  const { parent_execution_id, execution_context } = record;
  const { lifecycle_id } = execution_context;
  const attributes: AttributeValues = {
    projectId: record.projectID,
    organizationId: record.organization_id,
    agentflowId: record.agentflow_id,
    agentflowStatus: indexedAtStart,
    executedBy: record.executed_by._id,
    ...(typeof lifecycle_id === 'string' && { lifecycleId: lifecycle_id }),
  };
  return {
    taskQueue: deps.temporal.taskQueue,
    workflowId: executionWorkflowId(record._id),
    memo: {
      project: record.projectID,
      ...(request === null ? {} : { execute_request: request }),
      ...(parent_execution_id === null ? {} : { parent_execution_id }),
    },
    staticSummary: `${record.agentflow.name}: ${record.goal}`.slice(0, 200),
    attributes,
  };
}

function inputOf(record: ExecutionDocument): AgentflowExecutionInput {
  return {
    execution_id: record._id,
    project_id: record.projectID,
    organization_id: record.organization_id,
    agentflow_id: record.agentflow_id,
    agentflow_name: record.agentflow.name,
    executed_by: record.executed_by._id,
    goal: record.goal,
    input_variables: record.input_variables,
    runtime_inputs: record.runtime_inputs,
    files: record.files,
    agents: record.plan,
    first_agent_id: record.start_from_agent_id ?? record.agentflow.initialAgent,
    ...record.flow,
    ...(record.agents_output.length > 0 && { kept_outputs: record.agents_output }),
    max_history_events: maxHistoryEvents,
    status_indexed: indexedAtStart,
  };
}

/**
 * Asks the workflow for a move; it alone decides (contract, State rules).
 * @throws AppError `conflict` with the present status where the state does not allow it, `unavailable` without a worker
 */
export async function move(
  deps: Deps,
  principal: Principal,
  id: string,
  name: Move,
  reason?: string,
): Promise<MoveResult> {
  const record = await readExecution(deps, principal, id);
  const request: MoveRequest = { by: principal.userId, ...(reason === undefined ? {} : { reason }) };
  // What was never executed ends in its workflow as well, by a run that begins as cancelled.
  if (name === 'cancel' && (await startOnce(deps, record, { ...inputOf(record), cancelled: request }, null))) {
    return { execution_id: id, status: 'failed' };
  }
  const update = { pause: pauseUpdate, resume: resumeUpdate, cancel: cancelUpdate }[name];
  try {
    return await deps.temporal.callWorker((client) =>
      client.workflow.getHandle(executionWorkflowId(id)).executeUpdate(update, { args: [request] }),
    );
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError || isWorkflowGone(error)) {
      throw conflict(name, statusInRefusal(error) ?? (await presentStatus(deps, principal, id)));
    }
    throw error;
  }
}

/** Refuses what `move` would refuse now, without effect. @throws AppError `conflict` with the present status */
export async function checkMove(deps: Deps, principal: Principal, id: string, name: Move): Promise<MoveResult> {
  const status = await presentStatus(deps, principal, id);
  if (refusalOf(name, status) !== undefined) throw conflict(name, status);
  return { execution_id: id, status };
}

/** The workflow's validator tells the status that it refused the move for. */
function statusInRefusal(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
  return typeof details === 'object' && details !== null && 'status' in details ? details.status : undefined;
}

export async function presentStatus(deps: Deps, principal: Principal, id: string): Promise<ExecutionStatus> {
  const record = await readExecution(deps, principal, id);
  return (await liveState(deps, record))?.status ?? record.status;
}

function conflict(name: string, status: unknown): AppError {
  return new AppError('conflict', `the execution is ${String(status)}: ${name} is not possible`);
}
