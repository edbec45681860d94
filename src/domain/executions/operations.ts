import { z } from 'zod';
import { steeringRuns } from '../../auth/grants.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import type { Move } from '../../../workflows/agentflow-execution/state.js';
import { refuseDraft, startFacts, startState } from '../releases/operations/resolve.js';
import { defineOperation, manages, readsOwn, writes } from '../operation.js';
import { createExecution, NewExecution } from './operations/create.js';
import { agentflowFacts, agentflowOf, byPerson, outcome, runFacts } from './operations/start-facts.js';
import { evaluateExecution, Evaluation, EvaluationQuery } from './evaluate.js';
import { EventMessage } from './events.js';
import { ExecutionFilter, filterOf } from './operations/filter.js';
import { Execution, isDraft, isOver, notInSummary, toExecution, toSummary } from './record.js';
import { readLive } from './operations/live.js';
import { FlowGraph, readGraph } from './graph.js';
import { monitor, Monitoring } from './monitoring.js';
import { deliverEvent, NewEvent } from './operations/deliver-event.js';
import { checkMove, execute, move } from './operations/moves.js';
import { decidePreview, decidesOwnPreview, NewPreviewDecision } from './operations/preview.js';
import { readExecution } from './operations/read.js';
import { createWaitAddress, NewWaitAddress, WaitAddress } from './operations/wait-addresses.js';
import { removeExecutions } from './remove-executions.js';
import { refuseSlice } from './slices.js';
import { otherRelease, rerun, RerunRequest } from './rerun.js';
import { readStep, StepDetails } from './step-details.js';
import { deleteExecutionRules, startRules } from '../caused-rules.js';
import { addressRules, continueRules, decideRules, eventRules, steerRules } from './rules.js';
import { AppError } from '../../base/errors.js';
import { exampleId, Id, ProjectId } from '../../base/ids.js';
import { queryNumber } from '../../base/validation.js';
export { executionsCollection, executionEventsCollection } from './record.js';
export { executionKnowledgeCollection } from './knowledge-base.js';
export { executionExchangesCollection, removeExchanges } from './exchanges.js';
export { executionDeltasCollection } from './deltas.js';
export { questionsCollection } from './record/questions.js';
export { waitAddressesCollection } from './record/addresses.js';
export { AddressedData } from './operations/deliver-event.js';
export { callWaitAddress } from './operations/wait-addresses.js';
export { tryStep } from './operations/try-step.js';

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

const PathQuery = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4000)
    .optional()
    .describe(
      'Only what is on this path of the flow. It also names an item of a `map` that divides its items among runs of their own: the answer is then about the run that works on the item.',
    )
    .meta({ example: 'each/17' }),
});

export const readExecutionLive = defineOperation({
  ...read,
  name: 'execution.read',
  output: Execution,
  run: ({ deps, ctx, key: { execution_id } }) => readLive(deps, ctx.principal, execution_id),
});

export const monitorExecution = defineOperation({
  ...read,
  name: 'execution.monitor',
  input: PathQuery,
  output: Monitoring,
  run: ({ deps, ctx, key: { execution_id }, input: { path } }) => monitor(deps, ctx.principal, execution_id, path),
});

export const readExecutionGraph = defineOperation({
  ...read,
  name: 'execution.read-graph',
  input: PathQuery,
  output: FlowGraph,
  run: ({ deps, ctx, key: { execution_id }, input: { path } }) => readGraph(deps, ctx.principal, execution_id, path),
});

export const evaluateInExecution = defineOperation({
  ...read,
  name: 'execution.evaluate',
  input: EvaluationQuery,
  output: Evaluation,
  errors: ['validation_failed'],
  run: ({ deps, ctx, key: { execution_id }, input }) => evaluateExecution(deps, ctx.principal, execution_id, input),
});

export const readExecutionStep = defineOperation({
  ...read,
  name: 'execution.read-step',
  key: key.extend({ number: queryNumber(z.int().min(1).max(100_000)) }),
  output: StepDetails,
  run: ({ deps, ctx, key: { execution_id, number } }) => readStep(deps, ctx.principal, execution_id, number),
});

/** A stream of events. */
export const followExecution = defineOperation({ ...read, name: 'execution.follow', output: EventMessage });

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

const PrepareKey = z.object({
  execute: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether to start the execution as well, like `POST /execute_flow/{execution_id}/execute`.'),
});

export const prepareExecution = defineOperation({
  ...startRules,
  grant: 'svc:orchestrate.write',
  right: ['run'],
  fixedFacts: { step: 'prepare' },
  causes: [{ operation: startRules, when: 'if `execute` is true', calls: startOfPrepared }],
  key: PrepareKey,
  input: NewExecution,
  output: Execution,
  errors: ['not_found', 'validation_failed', 'plan_limit'],
  lookUp: async ({ deps, ctx, input }) => ({
    resource: agentflowOf(input.agentflow_id),
    facts: await startFacts(deps.mongo.collections, ctx.principal, byPerson(input)),
  }),
  // The execution gets a copy of what it runs.
  boundState: ({ deps, ctx, input }) => startState(deps.mongo.collections, ctx.principal, byPerson(input)),
  // Rules about the start also read which release it takes.
  subject: async ({ deps, ctx, key, input }) =>
    key.execute === 'true' ? startFacts(deps.mongo.collections, ctx.principal, byPerson(input)) : undefined,
  outcome,
  async run({ deps, ctx: { principal, recordId, idempotencyKey = recordId }, key, input }) {
    const prepared = await createExecution(deps, principal, input, {
      id: recordId,
      beforeFirstRelease: 'runs the draft',
    });
    if (key.execute === 'true') await execute(deps, principal, recordId, idempotencyKey);
    return prepared;
  },
});

/** The start of the execution that the call prepares. @param facts what rules read about its release */
function startOfPrepared({ agentflow_id, execute: asked }: Readonly<Record<string, unknown>>, facts: unknown) {
  if (asked !== 'true') return [];
  const resource = agentflowOf(String(agentflow_id));
  return [{ input: { agentflow_id, step: 'start', ...(facts as object) }, resource }];
}

export const startExecution = defineOperation({
  ...startRules,
  fixedFacts: { step: 'start' },
  key,
  input: MoveRequest,
  output: StartAnswer,
  errors: ['conflict', 'plan_limit'],
  lookUp: ({ deps, ctx, key: { execution_id } }) => agentflowFacts(deps, ctx.principal, execution_id),
  approvalContext: ({ deps, ctx, key: { execution_id } }) => runFacts(deps, ctx.principal, execution_id),
  outcome: async (_, { deps, ctx, key: { execution_id } }) =>
    outcome({ draft: isDraft(await readExecution(deps, ctx.principal, execution_id, ['flow'])) }),
  async run({ deps, ctx, key: { execution_id } }) {
    const prepared = await readExecution(deps, ctx.principal, execution_id, ['flow']);
    if (isDraft(prepared)) await refuseDraft(deps.mongo.collections, ctx.principal.projectId);
    return execute(deps, ctx.principal, execution_id, ctx.idempotencyKey);
  },
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
  async lookUp({ deps, ctx, key: { execution_id }, input }) {
    const own = await agentflowFacts(deps, ctx.principal, execution_id);
    const request = otherRelease(own.facts.agentflow_id, input);
    return request
      ? { ...own, facts: { ...own.facts, ...(await startFacts(deps.mongo.collections, ctx.principal, request)) } }
      : own;
  },
  async boundState({ deps, ctx, key: { execution_id }, input }) {
    const { agentflow_id } = await readExecution(deps, ctx.principal, execution_id, ['agentflow_id']);
    const request = otherRelease(agentflow_id, input);
    return request && startState(deps.mongo.collections, ctx.principal, request);
  },
  approvalContext: ({ deps, ctx, key: { execution_id } }) => runFacts(deps, ctx.principal, execution_id),
  outcome,
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
    const record = await readExecution(deps, ctx.principal, execution_id, ['_id', 'files', 'status', 'flow']);
    refuseSlice(record, 'delete');
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
    async dryRun({ deps, ctx, key: { execution_id } }) {
      const { status } = await checkMove(deps, ctx.principal, execution_id, name);
      return { [name]: { execution_id, status } };
    },
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

export const createAddress = defineOperation({
  ...addressRules,
  key,
  input: NewWaitAddress,
  output: WaitAddress,
  errors: ['conflict'],
  run: ({ deps, ctx, key: { execution_id }, input: { step_id } }) =>
    createWaitAddress(deps, ctx.principal, { execution_id, step_id }, ctx.baseUrl),
});

/** A step of the run performs it (`continue-after-anomaly.ts`). */
export const continueRun = continueRules;
