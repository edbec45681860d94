import { z } from 'zod';
import { jsonSchemaOf } from '../../governance/tools/json-schema.js';
import type { DomainTool } from '../../domain/operation.js';
import type { Execution } from '../../domain/executions/record.js';
import { hasEnded } from './follow-execution.js';
import { definitionOf, outputSchemaOf, type Govern, type McpTool } from './mcp-tool.js';

/** The clients of the MCP SDKs time out after 60 s. A shorter wait ensures that they receive the execution's id. */
export const patienceSeconds = 45;

/**
 * Returns `run_agent` for a client that requests progress. It responds when the execution ends or the wait times out.
 */
export function withProgress(runAgent: McpTool): McpTool {
  return {
    ...runAgent,
    run: {
      idIn: ({ execution_id: id }) => (typeof id === 'string' ? id : undefined),
      answer: (body, { status }) => ({ ...body, status }),
      patience: (_input, { progress }) => (progress ? patienceSeconds : undefined),
      startedHere: true,
    },
  };
}

const WaitInput = z.strictObject({
  execution_id: z.string().min(1).max(100),
  timeout_seconds: z
    .number()
    .min(1)
    .max(300)
    .default(patienceSeconds)
    .describe('Call again if the execution has not ended by then.'),
});
const WaitOutput = z.object({
  lifecycle_id: z.string(),
  ended: z.boolean().describe('False while the execution is still running.'),
  execution: z.looseObject({ execution_id: z.string(), status: z.string() }),
});

/**
 * Returns a tool that only MCP has. It waits for the end of an execution. The governed operation is `orchestrate` with
 * `operation: get`.
 */
export function waitForExecution(orchestrate: DomainTool, govern: Govern): McpTool {
  const get = orchestrate.caseOf({ operation: 'get' });
  const getOf = ({ execution_id }: z.infer<typeof WaitInput>) =>
    orchestrate.input.parse({ operation: 'get', execution_id });
  const reading: DomainTool = { ...orchestrate, input: WaitInput.transform(getOf), cases: [get], caseOf: () => get };
  const answer = (body: Record<string, unknown>, execution: Execution) => ({
    lifecycle_id: body.lifecycle_id,
    ended: hasEnded(execution),
    execution,
  });
  return {
    definition: definitionOf({
      name: 'wait_for_execution',
      title: 'Wait for an execution',
      description: 'Waits until an execution has completed or failed, and returns it with its conclusion.',
      input: jsonSchemaOf(WaitInput),
      output: outputSchemaOf(WaitOutput),
      hints: { readOnly: true, destructive: false, idempotent: true },
    }),
    governed: reading,
    visibleTo: ({ grants }) => grants.includes('svc:orchestrate.read'),
    async call(input, exchange) {
      const outcome = await govern(reading, input, exchange);
      if (outcome.kind !== 'answer' || !('execution' in outcome.body)) return outcome;
      return { kind: 'answer', body: answer(outcome.body, outcome.body.execution as Execution) };
    },
    run: {
      idIn: ({ execution }) =>
        execution !== undefined && !hasEnded(execution as Execution)
          ? (execution as Execution).execution_id
          : undefined,
      answer,
      patience: ({ execution_id, timeout_seconds }) =>
        WaitInput.parse({ execution_id, timeout_seconds }).timeout_seconds,
      startedHere: false,
    },
  };
}
