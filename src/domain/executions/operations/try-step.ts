import { z } from 'zod';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../base/errors.js';
import { Id } from '../../../base/ids.js';
import { findAgentflow } from '../../agentflows/operations/store.js';
import { startRules } from '../../caused-rules.js';
import type { Deps } from '../../deps.js';
import { defineOperation } from '../../operation.js';
import { resolveStart, startFacts, startState, type StartRequest } from '../../releases/operations/resolve.js';
import { Execution } from '../record.js';
import { flowOfOne, givenTo, valueProblems } from '../step-trial.js';
import { NewExecution, prepareExecution } from './create.js';
import { execute } from './moves.js';

const Values = z.record(z.string().max(100), z.unknown()).default({});

export const StepTrial = z
  .strictObject({
    projectID: z.string().optional(),
    id: z.string().optional(),
    step_id: z.string().optional(),
    goal: NewExecution.shape.goal.default('Try a step'),
    inputs: Values.describe('What `inputs` is: the `input_variables` of the run.').meta({ example: { price: 60 } }),
    outputs: Values.describe('The outputs that the step knows, by the id of the agent or step they are from.').meta({
      example: { check: { total: 120 } },
    }),
    names: Values.describe('What a step in a part of a flow knows besides: `item`, `index`, `carry`.').meta({
      example: { item: { price: 60 }, index: 0 },
    }),
  })
  .meta({ id: 'StepTrialInput', example: { inputs: { price: 60 }, outputs: { check: { total: 120 } } } });
type StepTrial = z.infer<typeof StepTrial>;

const key = z.object({
  id: Id,
  step_id: z.string().max(100).describe('An agent or a step of the saved agentflow.').meta({ example: 'price' }),
});
type Key = z.infer<typeof key>;

/**
 * Runs one agent or step of the saved agentflow with values that the caller gives. It is the start of a run of a draft, and
 * what the step does is governed as in any other. Only who may edit the agentflow may leave out what comes before the step.
 */
export const tryStep = defineOperation({
  ...startRules,
  grant: 'svc:orchestrate.write',
  fixedFacts: { step: 'try' },
  causes: [{ operation: startRules, calls: startOfTrial }],
  key,
  input: StepTrial,
  output: Execution,
  errors: ['validation_failed', 'conflict', 'plan_limit'],
  lookUp: async ({ deps, ctx, key: { id } }) => ({
    resource: { type: 'agentflow', id },
    facts: { agentflow_id: id, ...(await startFacts(deps.mongo.collections, ctx.principal, draftOf(id))) },
  }),
  boundState: ({ deps, ctx, key: { id } }) => startState(deps.mongo.collections, ctx.principal, draftOf(id)),
  approvalContext: async ({ deps, ctx, key: { id, step_id }, input: { goal, inputs, outputs, names } }) => {
    const { name } = await findAgentflow(deps.mongo.collections, ctx.principal, id);
    return { agentflow: name, tried_step: step_id, goal, inputs, outputs, names };
  },
  outcome: async () => 'draft',
  async run({ deps, ctx: { principal, recordId, idempotencyKey = recordId }, key: of, input }) {
    const prepared = await prepareTrial(deps, principal, of, input, recordId);
    await execute(deps, principal, recordId, idempotencyKey);
    return prepared;
  },
});

async function prepareTrial(
  deps: Deps,
  principal: Principal,
  { id, step_id }: Key,
  { goal, inputs, ...values }: StepTrial,
  executionId: string,
): Promise<Execution> {
  const runnable = await resolveStart(deps.mongo.collections, principal, draftOf(id), executionId);
  const whole = runnable.agentflow;
  if (![...whole.agents, ...(whole.steps ?? [])].some(({ _id }) => _id === step_id))
    throw notFound('the agent or step');
  const problems = valueProblems(whole, step_id, values);
  if (problems.length > 0) throw new AppError('validation_failed', problems.join('; '));
  const input = NewExecution.parse({ agentflow_id: id, goal, input_variables: inputs, draft: true });
  return prepareExecution(deps, principal, { ...runnable, agentflow: flowOfOne(whole, step_id) }, input, {
    id: executionId,
    trial: { of: whole, step_id, given: givenTo(whole, values) },
  });
}

function draftOf(agentflowId: string): StartRequest {
  return { agentflowId, beforeFirstRelease: 'runs the draft', draft: true };
}

function startOfTrial({ id }: Readonly<Record<string, unknown>>) {
  const agentflow_id = String(id);
  const resource = { type: 'agentflow', id: agentflow_id };
  return [{ input: { agentflow_id, step: 'start', draft: true, release_channel: '' }, resource }];
}
