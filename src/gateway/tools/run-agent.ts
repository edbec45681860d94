import { z } from 'zod';
import type { PlatformPorts } from '../ports.js';
import { defineTool, type Tool } from '../tool.js';

const Input = z
  .strictObject({
    agentflow_id: z.string().min(1).max(100),
    goal: z.string().min(1).max(20_000),
    inputs: z.record(z.string(), z.unknown()).default({}),
  })
  .meta({ id: 'RunAgentInput', example: { agentflow_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', goal: 'Summarise the open claims' } });

const Output = z.object({ lifecycle_id: z.string(), execution_id: z.string(), status: z.string() }).partial({ lifecycle_id: true });

/** Runs an agentflow's promoted version (contract, `POST /v1/run-agent`). */
export function createRunAgentTool({ executions }: Pick<PlatformPorts, 'executions'>): Tool {
  return defineTool({
    name: 'run-agent',
    title: 'Run an agentflow',
    description: 'Starts the promoted version of an agentflow for a goal and answers the execution, which goes on in the background.',
    grant: 'svc:agent.run',
    input: Input,
    output: Output,
    hints: { readOnly: false, destructive: false, idempotent: false },
    resource: ({ agentflow_id }) => ({ type: 'agentflow', id: agentflow_id }),
    prepare: async (input) => input,
    dryRun: async ({ agentflow_id, goal }, { principal }) => {
      const { version, name } = await executions.checkPromoted(principal, agentflow_id);
      return { start: { agentflow_id, name, version, goal } };
    },
    execute: async ({ agentflow_id, goal, inputs }, { principal, lifecycleId }) => ({
      body: await executions.runPromoted(principal, { agentflow_id, goal, input_variables: inputs, lifecycle_id: lifecycleId }),
    }),
  });
}
