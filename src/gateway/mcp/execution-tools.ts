import { z } from 'zod';
import { toAppError } from '../../http/errors.js';
import { jsonSchemaOf } from '../json-schema.js';
import type { Tool } from '../tool.js';
import { hasEnded, type FollowExecution } from './follow-execution.js';
import { annotationsOf, inputSchema, outputSchema, type Govern, type McpTool } from './mcp-tool.js';
import { refusalBody } from './rpc-errors.js';

/** Below the 60 s after which the SDKs' clients give up a call: the answer with the execution's id is not to be lost. */
const patienceSeconds = 45;

/** run_agent for a client that wants progress: answers when the execution ends, or goes on without us. */
export function withProgress(runAgent: McpTool, follow: FollowExecution): McpTool {
  return {
    ...runAgent,
    async call(input, exchange) {
      const outcome = await runAgent.call(input, exchange);
      const id = outcome.kind === 'answer' ? outcome.body.execution_id : undefined;
      if (typeof id !== 'string' || !exchange.progress) return outcome;
      const execution = await follow(id, exchange, patienceSeconds).catch(() => undefined);
      return execution ? { ...outcome, body: { ...outcome.body, status: execution.status } } : outcome;
    },
  };
}

const WaitInput = z.strictObject({
  execution_id: z.string().min(1).max(100),
  timeout_seconds: z.number().min(1).max(300).default(patienceSeconds).meta({ description: 'At most 300; ask again where that was not enough.' }),
});
const WaitOutput = z.object({
  lifecycle_id: z.string(),
  ended: z.boolean().meta({ description: 'False: the time was over before the execution was.' }),
  execution: z.looseObject({ execution_id: z.string(), status: z.string() }),
});

/** MCP's own: waits for the end of an execution; governed as `orchestrate` with the operation `get`, whose input is made of its own. */
export function waitForExecution(orchestrate: Tool, govern: Govern, follow: FollowExecution): McpTool {
  const title = 'Wait for an execution';
  const getOf = ({ execution_id }: z.infer<typeof WaitInput>) => orchestrate.input.parse({ operation: 'get', execution_id });
  const reading: Tool = { ...orchestrate, input: WaitInput.transform(getOf) };
  return {
    definition: {
      name: 'wait_for_execution',
      title,
      description: 'Waits until an execution has completed or failed, reports its progress, and answers it with its conclusion.',
      inputSchema: inputSchema(jsonSchemaOf(WaitInput)),
      outputSchema: outputSchema(jsonSchemaOf(WaitOutput)),
      annotations: annotationsOf(title, { readOnly: true, destructive: false, idempotent: true }),
    },
    visibleTo: ({ grants }) => grants.includes('svc:orchestrate.read'),
    async call(input, exchange) {
      const outcome = await govern(reading, input, exchange);
      if (outcome.kind !== 'answer' || !('execution' in outcome.body)) return outcome;
      const { lifecycle_id } = outcome.body;
      const { execution_id, timeout_seconds } = WaitInput.parse({ execution_id: input.execution_id, timeout_seconds: input.timeout_seconds });
      try {
        const execution = await follow(execution_id, exchange, timeout_seconds);
        return { kind: 'answer', body: { lifecycle_id, ended: hasEnded(execution), execution } };
      } catch (error) {
        return { kind: 'refusal', body: { ...refusalBody(toAppError(error)), lifecycle_id } };
      }
    },
  };
}
