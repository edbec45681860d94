import { expect } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { Deps } from '../../src/domain/deps.js';
import { startRequestOf } from '../../src/domain/executions/operations/moves.js';
import {
  agentflowExecutionType,
  executionWorkflowId,
  type AgentflowExecutionInput,
} from '../../workflows/agentflow-execution/messages.js';
import { attributePairs } from '../../workflows/search-attributes.js';
import { untilAvailable, type Answer } from './client.js';
import { eventually } from './eventually.js';
import { createWorkspace, type Workspace } from './fixture.js';
import { flowThatCalls } from './flows.js';
import type { HttpSink } from './http-sink.js';

type Member = Pick<Workspace, 'api' | 'projectID'>;

/** Creates the agentflow and an execution of it in `ready`; returns the execution as created. */
export async function prepareExecution({ api, projectID }: Member, flow: object, request: object = {}): Promise<any> {
  const agentflow = await untilAvailable(() => api.post(`/agentflow?projectID=${projectID}`, flow));
  expect(agentflow).toMatchObject({ status: 201 });
  const body = { agentflow_id: agentflow.body._id, goal: 'the sink', ...request };
  const created = await untilAvailable(() => api.post(`/execute_flow?projectID=${projectID}`, body));
  expect(created).toMatchObject({ status: 201, body: { status: 'ready' } });
  return created.body;
}

/** Starts a prepared execution as the API does, with changes of the input of its workflow. */
export async function startAsPlanned(deps: Deps, id: string, change: Partial<AgentflowExecutionInput>): Promise<void> {
  const record = await deps.mongo.collections.executions.findOne({ _id: id });
  if (!record) throw new Error('the record is missing');
  const { input, attributes, ...options } = startRequestOf(deps, record);
  await deps.temporal.client.workflow.start(agentflowExecutionType, {
    ...options,
    workflowId: executionWorkflowId(id),
    typedSearchAttributes: attributePairs(attributes),
    args: [{ ...input, ...change }],
  });
}

export function moveExecution(
  { api }: Member,
  id: string,
  move: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  return api.post(`/execute_flow/${id}/${move}`, body, headers);
}

/** Prepares and executes, and repeats both if Temporal is too busy to confirm. Returns the id. */
export async function startExecution(member: Member, flow: object, request: object = {}): Promise<string> {
  const { execution_id: id } = await prepareExecution(member, flow, request);
  const headers = { 'idempotency-key': id };
  await eventually(async () =>
    expect(await moveExecution(member, id, 'execute', {}, headers)).toMatchObject({
      status: 200,
      body: { execution_id: id, status: 'ready' },
    }),
  );
  return id;
}

/** An execution in a new workspace; the sink holds its first of two steps open until `release`. */
export async function heldExecution(
  deps: Deps,
  sink: HttpSink,
): Promise<{ workspace: Workspace; id: string; release: () => void }> {
  const workspace = await createWorkspace(deps);
  const path = `/${workspace.projectID}`;
  const release = sink.hold(`${path}/one`);
  const id = await startExecution(workspace, flowThatCalls([`${sink.url}${path}/one`, `${sink.url}${path}/two`]));
  await eventually(() => expect(sink.seen(path)).toHaveLength(1));
  return { workspace, id, release };
}

/** Waits for the live view. If it shows the end, also waits until the record has it, which may be later. */
export async function untilExecution({ api }: Member, id: string, expected: object | string): Promise<any> {
  const execution = await eventually(async () => {
    const { body } = await api.get(`/execute_flow/${id}`);
    expect(body).toMatchObject(statusOr(expected));
    return body;
  });
  if (['completed', 'failed'].includes(execution.status)) {
    // The stream of events ends when the record has ended. The header omits the events.
    const { status } = await api.get(`/execute_flow/${id}/events`, { 'last-event-id': '999999' });
    expect([200, 204]).toContain(status);
  }
  return execution;
}

const statusOr = (expected: object | string): object =>
  typeof expected === 'string' ? { status: expected } : expected;

/** The run of an execution in Temporal. */
export function runOf({ temporal }: Pick<Deps, 'temporal'>, id: string): WorkflowHandle {
  return temporal.client.workflow.getHandle(executionWorkflowId(id));
}

/** Waits until the run has closed; returns its status in Temporal. */
export async function closedAs(deps: Pick<Deps, 'temporal'>, id: string): Promise<string> {
  return eventually(async () => {
    const { status } = await runOf(deps, id).describe();
    expect(status.name).not.toBe('RUNNING');
    return status.name;
  });
}

/** The stored record: lists show it, and reads show it without the workflow. */
export async function untilListed({ api, projectID }: Member, id: string, expected: object | string): Promise<any> {
  return eventually(async () => {
    const { body } = await api.get(`/${projectID}/execution_flows?projectID=${projectID}&limit=200`);
    const listed = body.data.find((execution: any) => execution._id === id);
    expect(listed).toMatchObject(statusOr(expected));
    return listed;
  });
}
