import { createHash } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowUpdateFailedError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import {
  agentflowExecutionType,
  cancelUpdate,
  executionWorkflowId,
  pauseUpdate,
  resumeUpdate,
  type AgentflowExecutionInput,
  type MoveRequest,
  type MoveResult,
} from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { searchAttributes } from '../../../../workflows/search-attributes.js';
import { isWorkflowGone } from '../../../temporal/client.js';
import { liveState, readExecution } from './read.js';
import type { ExecutionDocument } from './record.js';

/** Continue as new before the server's own limits; small enough that a replay after a lost worker is quick. */
const maxHistoryEvents = 5000;

type StartOptions = WorkflowStartOptions<(input: AgentflowExecutionInput) => Promise<unknown>>;

/**
 * Starts the run: the workflow's id is the execution's, so that of many calls one starts it. A repeat under the same
 * `Idempotency-Key` gets the first answer even if that was lost with its process: the key's hash is in the memo.
 * @throws AppError `conflict` with the present status when it was started before
 */
export async function execute(deps: Deps, principal: Principal, id: string, idempotencyKey?: string): Promise<MoveResult> {
  const record = await readExecution(deps, principal, id);
  const started: MoveResult = { execution_id: id, status: 'ready' };
  const request = idempotencyKey === undefined ? null : createHash('sha256').update(idempotencyKey).digest('hex');
  if (record.status !== 'ready' && request === null) throw conflict('execute', record.status);
  try {
    await deps.temporal.call((client) => client.workflow.start(agentflowExecutionType, startOptions(deps, record, request)));
    return started;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    if (request !== null && (await requestThatStarted(deps, id)) === request) return started;
    throw conflict('execute', await presentStatus(deps, principal, id));
  }
}

async function requestThatStarted(deps: Deps, id: string): Promise<unknown> {
  const description = await deps.temporal.call((client) => client.workflow.getHandle(executionWorkflowId(id)).describe());
  return description.memo?.execute_request;
}

function startOptions(deps: Deps, record: ExecutionDocument, request: string | null): StartOptions {
  return {
    taskQueue: deps.temporal.taskQueue,
    workflowId: executionWorkflowId(record._id),
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    args: [inputOf(record)],
    memo: { project: record.projectID, ...(request === null ? {} : { execute_request: request }) },
    staticSummary: `${record.agentflow.name}: ${record.goal}`.slice(0, 200),
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.projectId, value: record.projectID },
      { key: searchAttributes.organizationId, value: record.organization_id },
      { key: searchAttributes.agentflowId, value: record.agentflow_id },
      { key: searchAttributes.agentflowStatus, value: 'ready' },
      { key: searchAttributes.executedBy, value: record.executed_by._id },
    ]),
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
    max_history_events: maxHistoryEvents,
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
  name: 'pause' | 'resume' | 'cancel',
  reason?: string,
): Promise<MoveResult> {
  const record = await readExecution(deps, principal, id);
  const request: MoveRequest = { by: principal.userId, ...(reason === undefined ? {} : { reason }) };
  try {
    if (name === 'cancel' && record.status === 'ready') return await cancelPerhapsUnstarted(deps, record, request);
    const update = { pause: pauseUpdate, resume: resumeUpdate, cancel: cancelUpdate }[name];
    return await deps.temporal.callWorker((client) =>
      client.workflow.getHandle(executionWorkflowId(id)).executeUpdate(update, { args: [request] }),
    );
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw new AppError('conflict', error.cause?.message ?? `the execution refused ${name}`);
    if (isWorkflowGone(error) || error instanceof WorkflowExecutionAlreadyStartedError) {
      throw conflict(name, await presentStatus(deps, principal, id));
    }
    throw error;
  }
}

/** An execution that was never started ends in its workflow as well: started with the cancel in one call. */
async function cancelPerhapsUnstarted(deps: Deps, record: ExecutionDocument, request: MoveRequest): Promise<MoveResult> {
  const { args, ...options } = startOptions(deps, record, null);
  const startWorkflowOperation = new WithStartWorkflowOperation(agentflowExecutionType, {
    ...options,
    args,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  });
  return deps.temporal.callWorker((client) =>
    client.workflow.executeUpdateWithStart(cancelUpdate, { args: [request], startWorkflowOperation }),
  );
}

async function presentStatus(deps: Deps, principal: Principal, id: string): Promise<string> {
  const record = await readExecution(deps, principal, id);
  return (await liveState(deps, record))?.status ?? record.status;
}

function conflict(name: string, status: string): AppError {
  return new AppError('conflict', `the execution is ${status}: ${name} is not possible`);
}
