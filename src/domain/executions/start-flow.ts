import type { Refused, AwaitedApproval } from '../../../workflows/agentflow-execution/act-messages.js';
import type { StartChildRequest } from '../../../workflows/agentflow-execution/child-messages.js';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import type { ChildEnd } from '../../../workflows/agentflow-execution/path-state.js';
import type { StartFlowRequest } from '../../../workflows/agentflow-execution/steps/start-flow.js';
import { AppError, notFound } from '../../base/errors.js';
import { derivedId, newId } from '../../base/ids.js';
import type { Performed } from '../../governance/kernel/perform.js';
import { callAfterDecision, performAsRun, principalOfStep } from '../actions/operations/calls-of-runs.js';
import { startRules } from '../caused-rules.js';
import type { Deps } from '../deps.js';
import { resolveStart, startFacts, type StartRequest } from '../releases/operations/resolve.js';
import type { ExchangePart } from './exchanges.js';
import { NewExecution, prepareExecution } from './operations/create.js';
import { startRequestOf } from './operations/moves.js';
import { isOver, type ExecutionDocument } from './record.js';

type StartResult = { child: StartChildRequest } | { held: AwaitedApproval } | { refused: Refused };

/** How many runs can start each other. */
const maxDepth = 10;

/**
 * Prepares the execution that a `flow` step starts, and returns the request to start it. It is the same operation as
 * `run-agent`, performed by the run. Safe to repeat.
 */
export async function startFlow(
  deps: Deps,
  request: StartFlowRequest,
  note: (part: ExchangePart) => void,
): Promise<StartResult> {
  const { collections } = deps.mongo;
  const parent = await collections.executions.findOne({ _id: request.run.execution_id });
  if (!parent) throw notFound('the execution');
  const id = derivedId(parent.created_at, request.idempotency_key);
  const outcome = await callAfterDecision(collections, request.approval, (approvalId) =>
    ask(deps, request, { id, approvalId, note, start: startOf(parent, request) }),
  );
  return 'body' in outcome ? { child: await prepare(deps, request, parent, id) } : outcome;
}

interface FlowStart {
  id: string;
  approvalId: string | undefined;
  note: (part: ExchangePart) => void;
  start: StartRequest;
}

async function ask(
  deps: Deps,
  request: StartFlowRequest,
  { id, approvalId, note, start }: FlowStart,
): Promise<Performed> {
  const { idempotency_key, run, agentflow_id, version, goal, input_variables } = request;
  const lifecycleId = newId();
  note({ lifecycle_id: lifecycleId, input: { agentflow_id, version, goal, input_variables } });
  const call = { idempotency_key, step: 'start', agentflow_id, execution_id: id, version: version ?? null };
  const facts = await startFacts(deps.mongo.collections, { projectId: request.project_id }, start);
  return performAsRun({ kernel: deps.kernel, collections: deps.mongo.collections }, request, {
    ...{ lifecycleId, operation: startRules, approvalId },
    resource: { type: 'agentflow', id: agentflow_id },
    facts: { ...facts, parent_agentflows: [...(run.parents ?? []), run.agentflow_id] },
    check: () => ({
      input: { ...call, goal, input_variables },
      approvalContext: async () => ({ agentflow: run.agentflow_name, step: run.agent_title, goal, input_variables }),
      run: async () => ({ body: null, ...(facts.draft && { outcome: 'draft' }) }),
    }),
  });
}

/**
 * A release has pinned what its steps start, and takes the connectors of its own channel. A draft starts what is in production,
 * or the draft of an agentflow without a release.
 */
function startOf({ release }: ExecutionDocument, { agentflow_id, version }: StartFlowRequest): StartRequest {
  return {
    agentflowId: agentflow_id,
    beforeFirstRelease: release ? 'is refused' : 'runs the draft',
    ...(version !== undefined && { version }),
    ...(release && { channel: release.channel }),
  };
}

async function prepare(
  deps: Deps,
  request: StartFlowRequest,
  parent: ExecutionDocument,
  id: string,
): Promise<StartChildRequest> {
  const { goal, input_variables, wait } = request;
  const { collections } = deps.mongo;
  const principal = await principalOfStep(collections, request);
  const parents = [...(parent.flow.parents ?? []), parent.agentflow_id];
  if (parents.length > maxDepth)
    throw new AppError('validation_failed', `agentflows can start each other at most ${maxDepth} times`);
  const runnable = await resolveStart(collections, principal, startOf(parent, request), id);
  const input = NewExecution.parse({
    agentflow_id: request.agentflow_id,
    goal,
    input_variables,
    parent_execution_id: parent._id,
  });
  await prepareExecution(deps, principal, runnable, input, {
    id,
    causedBy: parent.caused_by,
    parent: {
      directed_by: parent.directed_by,
      shaped_by: parent.shaped_by ?? [],
      started_by: parent.flow.started_by,
      parents,
    },
  });
  const record = await collections.executions.findOne({ _id: id });
  if (!record) throw notFound('the execution');
  const child = startRequestOf(deps, record);
  return wait ? { ...child, input: { ...child.input, notifies: executionWorkflowId(parent._id) } } : child;
}

/** How the run has ended; null while it goes on. The step that asks has started it. */
export async function readFlow(deps: Deps, executionId: string): Promise<ChildEnd | null> {
  const record = await deps.mongo.collections.executions.findOne(
    { _id: executionId },
    { projection: { status: 1, conclusion: 1, execution_context: 1, agents_output: 1 } },
  );
  if (!record) return { error: { code: 'not_found', message: 'the execution was deleted' } };
  if (!isOver(record.status)) return null;
  const { conclusion, execution_context } = record;
  const tokens = tokensOf(record);
  if (conclusion) return { output: 'output' in conclusion ? conclusion.output : conclusion.conclusion, tokens };
  const { code = 'step_failed', message = '' } = (execution_context.failure ?? {}) as {
    code?: string;
    message?: string;
  };
  return { error: { code, message }, tokens };
}

/** The tokens of a run and of all runs that it has waited for. */
function tokensOf({
  agents_output,
  execution_context,
}: Pick<ExecutionDocument, 'agents_output' | 'execution_context'>) {
  const ofChildren = Number(execution_context.tokens_of_children ?? 0);
  return agents_output.reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, ofChildren);
}
