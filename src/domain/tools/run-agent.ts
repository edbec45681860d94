import { z } from 'zod';
import { checkRelease, releaseRequest, runRelease } from '../executions/operations/run-release.js';
import { choiceFields, startFacts, startState } from '../releases/operations/resolve.js';
import { startRules } from '../caused-rules.js';
import { defineOperation } from '../operation.js';
import { Id, exampleId } from '../../base/ids.js';

const Input = z
  .strictObject({
    agentflow_id: z.string().min(1).max(100),
    goal: z.string().min(1).max(20_000),
    inputs: z.record(z.string(), z.unknown()).default({}),
    ...choiceFields,
  })
  .meta({ id: 'RunAgentInput', example: { agentflow_id: exampleId, goal: 'Summarise the open claims' } });

const Output = z
  .object({
    lifecycle_id: Id,
    execution_id: Id,
    status: z.string().meta({ example: 'running' }),
    version: z.int().nullable().describe('The release that it runs. Null for a draft.').meta({ example: 3 }),
    draft: z.boolean().meta({ example: false }),
  })
  .partial({ lifecycle_id: true })
  .meta({ id: 'StartedRun' });

/** Runs a release of an agentflow (docs/specification.md, `POST /v1/run-agent`). */
export const runAgent = defineOperation({
  ...startRules,
  tool: {
    title: 'Run an agentflow',
    description:
      'Starts the release of an agentflow that is in production for a goal and returns the execution, which continues in the background.',
    hints: { readOnly: false, destructive: false, idempotent: false },
  },
  input: Input,
  output: Output,
  resource: ({ input }) => ({ type: 'agentflow', id: input.agentflow_id }),
  lookUp: async ({ deps, ctx, input }) => ({
    facts: await startFacts(deps.mongo.collections, ctx.principal, releaseRequest(input)),
  }),
  boundState: ({ deps, ctx, input }) => startState(deps.mongo.collections, ctx.principal, releaseRequest(input)),
  async dryRun({ deps, ctx, input }) {
    const { version, name } = await checkRelease(deps, ctx.principal, input);
    return { start: { agentflow_id: input.agentflow_id, name, version, goal: input.goal } };
  },
  outcome: ({ draft }) => (draft ? 'draft' : undefined),
  run: ({ deps, ctx: { principal, lifecycleId, recordId, bound }, input: { inputs, ...input } }) =>
    runRelease(deps, principal, {
      ...{ ...input, input_variables: inputs, lifecycle_id: lifecycleId, execution_id: recordId, bound },
    }),
});
