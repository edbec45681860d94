import { z } from 'zod';
import type { Deps } from '../deps.js';
import { checkPromoted, runPromoted } from '../executions/operations/promoted.js';
import { startRules } from '../caused-rules.js';
import { defineTool } from '../../governance/tools/tool.js';
import { Id, exampleId } from '../../base/ids.js';

const Input = z
  .strictObject({
    agentflow_id: z.string().min(1).max(100),
    goal: z.string().min(1).max(20_000),
    inputs: z.record(z.string(), z.unknown()).default({}),
  })
  .meta({ id: 'RunAgentInput', example: { agentflow_id: exampleId, goal: 'Summarise the open claims' } });

const Output = z
  .object({ lifecycle_id: Id, execution_id: Id, status: z.string().meta({ example: 'running' }) })
  .partial({ lifecycle_id: true })
  .meta({ id: 'StartedRun' });

/** Runs an agentflow's promoted version (contract, `POST /v1/run-agent`). */
export const runAgentTool = defineTool(startRules, (deps: Deps) => ({
  title: 'Run an agentflow',
  description:
    'Starts the promoted version of an agentflow for a goal and returns the execution, which continues in the background.',
  input: Input,
  output: Output,
  hints: { readOnly: false, destructive: false, idempotent: false },
  resource: ({ agentflow_id }) => ({ type: 'agentflow', id: agentflow_id }),
  boundState: async ({ agentflow_id }, { principal }) => ({
    version: (await checkPromoted(deps, principal, agentflow_id)).version,
  }),
  dryRun: async ({ agentflow_id, goal }, { principal }) => {
    const { version, name } = await checkPromoted(deps, principal, agentflow_id);
    return { start: { agentflow_id, name, version, goal } };
  },
  execute: async ({ agentflow_id, goal, inputs }, { principal, lifecycleId, recordId, bound }) => ({
    body: await runPromoted(deps, principal, {
      ...{ agentflow_id, goal, input_variables: inputs, lifecycle_id: lifecycleId, execution_id: recordId },
      version: (bound as { version: number } | undefined)?.version,
    }),
  }),
}));
