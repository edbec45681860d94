import type { Refused, AwaitedApproval } from '../../../workflows/agentflow-execution/act-messages.js';
import type { StartChildRequest } from '../../../workflows/agentflow-execution/child-messages.js';
import { executionWorkflowId } from '../../../workflows/agentflow-execution/messages.js';
import type { ChildEnd } from '../../../workflows/agentflow-execution/path-state.js';
import type { StartFlowRequest } from '../../../workflows/agentflow-execution/steps/start-flow.js';
import type { Principal } from '../../auth/principal.js';
import { AppError, notFound } from '../../base/errors.js';
import { derivedId, newId } from '../../base/ids.js';
import type { Performed } from '../../governance/kernel/perform.js';
import { callAfterDecision, performAsRun, principalOfStep } from '../actions/operations/calls-of-runs.js';
import { startRules } from '../caused-rules.js';
import { findVersion } from '../agentflows/operations/promote.js';
import { findAgentflow } from '../agentflows/operations/store.js';
import type { Deps } from '../deps.js';
import type { ExchangePart } from './exchanges.js';
import { NewExecution, prepareExecution } from './operations/create.js';
import { startRequestOf } from './operations/moves.js';
import { isOver, type ExecutionDocument } from './record.js';

type StartResult = { child: StartChildRequest } | { held: AwaitedApproval } | { refused: Refused };

/** How many runs can start each other by `flow` steps. */
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
    ask(deps, request, { id, approvalId, note }),
  );
  return 'body' in outcome ? { child: await prepare(deps, request, parent, id) } : outcome;
}

function ask(
  deps: Deps,
  request: StartFlowRequest,
  { id, approvalId, note }: { id: string; approvalId: string | undefined; note: (part: ExchangePart) => void },
): Promise<Performed> {
  const { idempotency_key, run, agentflow_id, version, goal, input_variables } = request;
  const lifecycleId = newId();
  note({ lifecycle_id: lifecycleId, input: { agentflow_id, version, goal, input_variables } });
  const call = { idempotency_key, step: 'start', agentflow_id, execution_id: id, version: version ?? null };
  return performAsRun({ kernel: deps.kernel, collections: deps.mongo.collections }, request, {
    ...{ lifecycleId, operation: startRules, approvalId },
    resource: { type: 'agentflow', id: agentflow_id },
    check: () => ({
      input: { ...call, goal, input_variables },
      approvalContext: async () => ({ agentflow: run.agentflow_name, step: run.agent_title, goal, input_variables }),
      run: async () => ({ body: null }),
    }),
  });
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
  const depth = (parent.flow.depth ?? 0) + 1;
  if (depth > maxDepth)
    throw new AppError('validation_failed', `agentflows can start each other at most ${maxDepth} times`);
  const { agentflow, version, promotedBy } = await flowOf(deps, principal, request);
  const input = NewExecution.parse({
    agentflow_id: request.agentflow_id,
    goal,
    input_variables,
    parent_execution_id: parent._id,
  });
  await prepareExecution(deps, principal, agentflow, input, {
    id,
    ...(version !== undefined && { version }),
    causedBy: [...parent.caused_by, ...promotedBy],
    parent: {
      directed_by: parent.directed_by,
      shaped_by: parent.shaped_by ?? [],
      started_by: parent.flow.started_by,
      depth,
    },
  });
  const record = await collections.executions.findOne({ _id: id });
  if (!record) throw notFound('the execution');
  const child = startRequestOf(deps, record);
  return wait ? { ...child, input: { ...child.input, notifies: executionWorkflowId(parent._id) } } : child;
}

/** The version that the step names, the promoted version, or the saved agentflow if none was promoted. */
async function flowOf(deps: Deps, principal: Principal, { agentflow_id, version: wanted }: StartFlowRequest) {
  const { collections } = deps.mongo;
  const saved = await findAgentflow(collections, principal, agentflow_id);
  const version = wanted ?? saved.promoted_version;
  if (version === undefined) return { agentflow: saved, version, promotedBy: [] };
  const found = await findVersion(collections, agentflow_id, version);
  return { agentflow: found.agentflow, version, promotedBy: [found.promoted_by] };
}

/** How the run has ended; null while it goes on. The step that asks has started it. */
export async function readFlow(deps: Deps, executionId: string): Promise<ChildEnd | null> {
  const record = await deps.mongo.collections.executions.findOne(
    { _id: executionId },
    { projection: { status: 1, conclusion: 1, execution_context: 1 } },
  );
  if (!record) return { error: { code: 'not_found', message: 'the execution was deleted' } };
  if (!isOver(record.status)) return null;
  const { conclusion, execution_context } = record;
  if (conclusion) return { output: 'output' in conclusion ? conclusion.output : conclusion.conclusion };
  const { code = 'step_failed', message = '' } = (execution_context.failure ?? {}) as {
    code?: string;
    message?: string;
  };
  return { error: { code, message } };
}
