import type { z } from 'zod';
import { passesAdminOnly, permits, type Principal } from '../../auth/principal.js';
import { jsonSchemaOf, withProperties, type ObjectSchema } from '../../governance/tools/json-schema.js';
import { toAppError } from '../../http/errors.js';
import type { DomainOperation, DomainTool } from '../../domain/operation.js';
import { permissionOf } from '../../governance/operations/operation.js';
import { mcpNameOf } from '../../governance/tools/tool.js';
import type { CallOutcome, Exchange } from './exchange.js';
import type { Execution } from '../../domain/executions/record.js';
import type { FollowExecution } from './follow-execution.js';
import { refusalBody } from './rpc-errors.js';

export type ToolDefinition = ReturnType<typeof definitionOf>;

export interface McpTool {
  definition: ToolDefinition;
  governed: DomainTool;
  visibleTo(principal: Principal): boolean;
  /** Performs the call without waiting for the run that it starts. */
  call(input: Record<string, unknown>, exchange: Exchange): Promise<CallOutcome>;
  run?: RunOfTool;
}

/** The relation between a tool's result and a run. */
interface RunOfTool {
  /** Returns the id of the run, or undefined if the result does not refer to a run or the run has ended. */
  idIn(body: Record<string, unknown>): string | undefined;
  /** Returns the result with the current state of the run. */
  answer(body: Record<string, unknown>, execution: Execution): Record<string, unknown>;
  /** Returns how many seconds a call without a task waits, or undefined if it does not wait. */
  patience(input: Record<string, unknown>, exchange: Exchange): number | undefined;
  /**
   * Whether the call started the run. If so, cancelling the task cancels the run, and the call's result remains valid
   * when the run cannot be followed.
   */
  startedHere: boolean;
}

/** Calls one governed tool. */
export type Govern = (tool: DomainTool, input: Record<string, unknown>, exchange: Exchange) => Promise<CallOutcome>;

/** The arguments that every tool accepts in addition to its own. */
const commonArguments = {
  dry_run: { type: 'boolean', description: 'Only report the effect.' },
  approval_id: { type: 'string', maxLength: 100, description: 'Finishes a held call; repeat its other arguments.' },
};

/** The results of a held call and of a dry run. */
const pending = {
  status: { const: 'pending_approval' },
  approval_id: { type: 'string' },
  approval_url: { type: 'string' },
  expires_at: { type: 'number' },
  how_to_finish: { type: 'string' },
};
const dryRun = { dry_run: { const: true }, would: { type: 'object' } };

/** A tool as `tools/list` describes it. All protocol versions share it, except that 2026-07-28 has no `execution`. */
export function definitionOf({
  name,
  title,
  description,
  input,
  output,
  hints: { readOnly, destructive, idempotent },
}: Pick<DomainTool, 'name' | 'title' | 'description' | 'hints'> & { input: ObjectSchema; output: ObjectSchema }) {
  return {
    name,
    title,
    description,
    inputSchema: withProperties(input, commonArguments),
    outputSchema: outputSchema(output),
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: false as const,
    },
    execution: { taskSupport: 'optional' as const },
  };
}

/** The schema of a result, without bounds, which only a sender needs. */
export function outputSchemaOf(output: z.ZodType): ObjectSchema {
  return jsonSchemaOf(output, { bounds: false });
}

/**
 * Combines the schemas of the result, the pending approval and the dry run. All properties are listed at the root,
 * where client generators look for them. `anyOf` states which ones occur together.
 */
function outputSchema(own: ObjectSchema): ObjectSchema {
  const required = own.required.filter((name) => name !== 'lifecycle_id');
  const properties: ObjectSchema['properties'] = { lifecycle_id: { type: 'string' }, ...own.properties };
  for (const [name, schema] of Object.entries({ ...pending, ...dryRun })) {
    const existing = properties[name];
    properties[name] = existing ? { anyOf: [existing, schema] } : schema;
  }
  const together = [required, ['status', 'approval_id', 'expires_at'], ['dry_run', 'would']].map((names) => ({
    required: names,
  }));
  return { ...own, properties, required: ['lifecycle_id'], ...(required.length > 0 && { anyOf: together }) };
}

/** Creates a function that waits for the run of a tool's result, for as long as the tool allows. */
export function createWaitForRun(follow: FollowExecution) {
  return async (
    { run }: McpTool,
    input: Record<string, unknown>,
    outcome: CallOutcome,
    exchange: Exchange,
  ): Promise<CallOutcome> => {
    const id = outcome.kind === 'answer' ? run?.idIn(outcome.body) : undefined;
    const patience = id === undefined ? undefined : run?.patience(input, exchange);
    if (!run || id === undefined || patience === undefined) return outcome;
    try {
      return { kind: 'answer', body: run.answer(outcome.body, await follow(id, exchange, patience)) };
    } catch (error) {
      if (run.startedHere) return outcome;
      return { kind: 'refusal', body: { ...refusalBody(toAppError(error)), lifecycle_id: outcome.body.lifecycle_id } };
    }
  };
}

/**
 * Presents a governed tool as an MCP tool. A project id in the path comes from the credential, so it is not an
 * argument.
 */
export function governedTool(tool: DomainTool, govern: Govern): McpTool {
  return {
    definition: definitionOf({
      ...tool,
      name: mcpNameOf(tool),
      input: jsonSchemaOf(tool.input),
      output: outputSchemaOf(tool.output),
    }),
    governed: tool,
    visibleTo: (principal) => tool.cases.some(({ operation }) => mayPerform(principal, operation)),
    call: (args, exchange) => govern(tool, args, exchange),
  };
}

function mayPerform(principal: Principal, operation: DomainOperation): boolean {
  return passesAdminOnly(principal, operation) && permits(principal, permissionOf(operation));
}
