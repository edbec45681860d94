import { z } from 'zod';
import { steeringRuns } from '../../auth/grants.js';
import type { Principal } from '../../auth/principal.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import type { Move } from '../../../workflows/agentflow-execution/state.js';
import { findAgentflow } from '../agentflows/operations/store.js';
import type { Deps } from '../deps.js';
import { defineOperation, defineStream, manages, readsOwn, writes } from '../operation.js';
import { createExecution, NewExecution } from './operations/create.js';
import { EventMessage } from './events.js';
import { ExecutionFilter, filterOf } from './operations/filter.js';
import { Execution, isOver, notInSummary, toExecution, toSummary, type ExecutionDocument } from './record.js';
import { readLive } from './operations/live.js';
import { FlowGraph, readGraph } from './graph.js';
import { monitor, Monitoring } from './monitoring.js';
import { deliverEvent, NewEvent } from './operations/deliver-event.js';
import { execute, move } from './operations/moves.js';
import { decidePreview, decidesOwnPreview, NewPreviewDecision } from './operations/preview.js';
import { readExecution } from './operations/read.js';
import { removeExecutions } from './remove-executions.js';
import { rerun, RerunRequest } from './rerun.js';
import { readStep, StepDetails } from './step-details.js';
import { deleteExecutionRules, startRules } from '../caused-rules.js';
import { continueRules, decideRules, eventRules, steerRules } from './rules.js';
import { AppError } from '../../base/errors.js';
import { exampleId, Id, ProjectId } from '../../base/ids.js';
import { queryNumber } from '../../base/validation.js';
export { executionsCollection, executionEventsCollection } from './record.js';
export { executionKnowledgeCollection } from './knowledge-base.js';
export { executionExchangesCollection, removeExchanges } from './exchanges.js';
export { executionDeltasCollection } from './deltas.js';

const key = z.object({ execution_id: Id });
const MoveRequest = z.strictObject({ projectID: ProjectId.optional(), execution_id: Id.optional() });
const MoveAnswer = z
  .object({ execution_id: z.string(), status: Execution.shape.status })
  .meta({ id: 'MovedExecution', example: { execution_id: '0198f3b0-0000-7000-8000-000000000000', status: 'paused' } });

/** The whole execution if the caller waited for its end (`Prefer: wait=30`). */
const StartAnswer = Execution.partial()
  .extend(MoveAnswer.shape)
  .meta({ id: 'StartedExecution', example: { execution_id: '0198f3b0-0000-7000-8000-000000000000', status: 'ready' } });

const read = { ...readsOwn, key };

export const readExecutionLive = defineOperation({
  ...read,
  name: 'execution.read',
  output: Execution,
  run: ({ deps, ctx, key: { execution_id } }) => readLive(deps, ctx.principal, execution_id),
});

export const monitorExecution = defineOperation({
  ...read,
  name: 'execution.monitor',
  output: Monitoring,
  run: ({ deps, ctx, key: { execution_id } }) => monitor(deps, ctx.principal, execution_id),
});

export const readExecutionGraph = defineOperation({
  ...read,
  name: 'execution.read-graph',
  output: FlowGraph,
  run: ({ deps, ctx, key: { execution_id } }) => readGraph(deps, ctx.principal, execution_id),
});

export const readExecutionStep = defineOperation({
  ...read,
  name: 'execution.read-step',
  key: key.extend({ number: queryNumber(z.int().min(1).max(100_000)) }),
  output: StepDetails,
  run: ({ deps, ctx, key: { execution_id, number } }) => readStep(deps, ctx.principal, execution_id, number),
});

/** A stream of events. */
export const followExecution = defineStream({ ...read, name: 'execution.follow', output: EventMessage });

export const listExecutions = defineOperation({
  name: 'execution.list',
  ...readsOwn,
  input: ListQuery.extend(ExecutionFilter.shape).extend({
    fields: z
      .enum(['all', 'summary'])
      .default('all')
      .describe('`summary` leaves inputs, outputs, previews and the agents of the agentflow empty.'),
  }),
  output: listOf(Execution),
  async run({ deps, ctx, input }) {
    const { executions } = deps.mongo.collections;
    const [view, left] = input.fields === 'summary' ? [toSummary, notInSummary] : [toExecution];
    const page = await listPage(executions, filterOf(ctx.principal, input), input, 'created_at', left);
    return { ...page, data: page.data.map((record) => view(record)) };
  },
});

export const prepareExecution = defineOperation({
  ...startRules,
  grant: 'svc:orchestrate.write',
  right: ['run'],
  fixedFacts: { step: 'prepare' },
  input: NewExecution,
  output: Execution,
  errors: ['not_found', 'validation_failed', 'plan_limit'],
  lookUp: async ({ input }) => ({ resource: agentflowOf(input.agentflow_id) }),
  // The execution gets a copy of the current revision.
  boundState: async ({ deps, ctx, input }) => {
    const { revision } = await findAgentflow(deps.mongo.collections, ctx.principal, input.agentflow_id);
    return { agentflow_revision: revision };
  },
  run: ({ deps, ctx, input }) => createExecution(deps, ctx.principal, input, { id: ctx.recordId }),
});

export const startExecution = defineOperation({
  ...startRules,
  fixedFacts: { step: 'start' },
  key,
  input: MoveRequest,
  output: StartAnswer,
  errors: ['conflict', 'plan_limit'],
  lookUp: ({ deps, ctx, key: { execution_id } }) => agentflowFacts(deps, ctx.principal, execution_id),
  approvalContext: ({ deps, ctx, key: { execution_id } }) => runFacts(deps, ctx.principal, execution_id),
  run: ({ deps, ctx, key: { execution_id } }) => execute(deps, ctx.principal, execution_id, ctx.idempotencyKey),
});

export const rerunExecution = defineOperation({
  ...startRules,
  grant: 'svc:orchestrate.write',
  right: ['run'],
  fixedFacts: { step: 'prepare' },
  key,
  input: RerunRequest,
  output: Execution,
  errors: ['conflict', 'validation_failed'],
  lookUp: ({ deps, ctx, key: { execution_id } }) => agentflowFacts(deps, ctx.principal, execution_id),
  approvalContext: ({ deps, ctx, key: { execution_id } }) => runFacts(deps, ctx.principal, execution_id),
  run: ({ deps, ctx, key: { execution_id }, input }) => rerun(deps, ctx.principal, execution_id, input, ctx.recordId),
});

export const deleteExecution = defineOperation({
  ...deleteExecutionRules,
  ...manages,
  key,
  output: z
    .object({ execution_id: Id, deleted: z.literal(true) })
    .meta({ id: 'DeletedExecution', example: { execution_id: exampleId, deleted: true } }),
  errors: ['conflict'],
  async run({ deps, ctx, key: { execution_id } }) {
    const record = await readExecution(deps, ctx.principal, execution_id, ['_id', 'files', 'status']);
    if (!isOver(record.status))
      throw new AppError('conflict', `the execution is ${record.status}: cancel it before you delete it`);
    await removeExecutions(deps, [record]);
    return { execution_id, deleted: true as const };
  },
});

const moveOperation = (name: Move) =>
  defineOperation({
    ...steerRules,
    ...writes,
    right: steeringRuns,
    fixedFacts: { operation: name },
    key,
    input: MoveRequest.extend({ reason: z.string().max(500).optional().meta({ example: 'Waits for the register' }) }),
    output: MoveAnswer,
    errors: ['conflict'],
    run: ({ deps, ctx, key: { execution_id }, input: { reason } }) =>
      move(deps, ctx.principal, execution_id, name, { reason, updateId: ctx.recordId }),
  });
export const pauseExecution = moveOperation('pause');
export const resumeExecution = moveOperation('resume');
export const cancelExecution = moveOperation('cancel');

export const decideExecution = defineOperation({
  ...decideRules,
  right: ['decide'],
  key,
  input: NewPreviewDecision,
  output: MoveAnswer,
  errors: ['conflict', 'scope_denied'],
  lookUp: async ({ deps, ctx, key: { execution_id } }) => ({
    facts: await decidesOwnPreview(deps, ctx.principal, execution_id),
  }),
  run: ({ deps, ctx, key: { execution_id }, input }) =>
    decidePreview(deps, ctx.principal, execution_id, input, ctx.recordId),
});

export const sendEvent = defineOperation({
  ...eventRules,
  key,
  input: NewEvent,
  output: z
    .object({ execution_id: Id, event_id: Id, status: Execution.shape.status })
    .meta({ id: 'EventReceipt', example: { execution_id: exampleId, event_id: exampleId, status: 'running' } }),
  errors: ['conflict'],
  run: ({ deps, ctx, key: { execution_id }, input }) =>
    deliverEvent(deps, ctx.principal, execution_id, input, ctx.recordId),
});

async function agentflowFacts(deps: Deps, principal: Principal, id: string) {
  const { agentflow_id } = await readExecution(deps, principal, id, ['agentflow_id']);
  return { resource: agentflowOf(agentflow_id), facts: { agentflow_id } };
}

function agentflowOf(id: string) {
  return { type: 'agentflow', id };
}

async function runFacts(deps: Deps, principal: Principal, id: string) {
  const record: ExecutionDocument = await readExecution(deps, principal, id);
  const { agentflow, goal, input_variables, runtime_inputs, start_from_agent_id } = record;
  return { agentflow: agentflow.name, goal, input_variables, runtime_inputs, start_from_agent_id };
}

/** A step of the run performs it (`continue-after-anomaly.ts`). */
export const continueRun = defineStream({ ...continueRules, output: z.unknown() });
