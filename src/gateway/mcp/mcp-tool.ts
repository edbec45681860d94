import type { Grant } from '../../auth/grants.js';
import { isAdmin, type Principal } from '../../auth/principal.js';
import { jsonSchemaOf, withoutProperties, withProperties, type ObjectSchema } from '../json-schema.js';
import { mcpNameOf, pathParameters, type Tool } from '../tool.js';
import type { CallOutcome, Exchange } from './exchange.js';

/** What `tools/list` tells of a tool; the same in every protocol version. */
export interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema: ObjectSchema;
  annotations: { title: string; readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: false };
}

export interface McpTool {
  definition: ToolDefinition;
  visibleTo(principal: Principal): boolean;
  call(input: Record<string, unknown>, exchange: Exchange): Promise<CallOutcome>;
}

/** Runs one governed tool through the pipeline. */
export type Govern = (tool: Tool, input: Record<string, unknown>, exchange: Exchange) => Promise<CallOutcome>;

/** Arguments that every tool takes beside its own. */
const commonArguments = {
  dry_run: { type: 'boolean', description: 'True: only tell what would be done.' },
  approval_id: {
    type: 'string',
    maxLength: 100,
    description: 'To finish a call that was held for approval: its approval_id, with the other arguments unchanged.',
  },
};

/** In place of an answer: the call waits for an approval, or was a dry run. */
const otherAnswers: ObjectSchema[] = [
  {
    type: 'object',
    properties: {
      status: { const: 'pending_approval' },
      approval_id: { type: 'string' },
      expires_at: { type: 'number', description: 'Epoch seconds.' },
      how_to_finish: { type: 'string' },
    },
    required: ['status', 'approval_id', 'expires_at'],
  },
  { type: 'object', properties: { dry_run: { const: true }, would: { type: 'object' } }, required: ['dry_run', 'would'] },
];

export function inputSchema(own: ObjectSchema): ObjectSchema {
  return withProperties(own, commonArguments);
}

/** One of the answer, the pending approval and the dry run, each with the lifecycle id. */
export function outputSchema({ $defs, ...own }: ObjectSchema): ObjectSchema {
  const lifecycle_id = { type: 'string' };
  return {
    type: 'object',
    properties: { lifecycle_id },
    required: ['lifecycle_id'],
    anyOf: [{ ...own, properties: { ...own.properties, lifecycle_id } }, ...otherAnswers],
    // References count from the root.
    ...($defs === undefined ? {} : { $defs }),
  };
}

/** A governed tool as MCP shows it; the project in a path is the credential's own, so it is no argument. */
export function governedTool(tool: Tool, govern: Govern): McpTool {
  const own = withoutProperties(jsonSchemaOf(tool.input), credentialParameters(tool));
  return {
    definition: {
      name: mcpNameOf(tool),
      title: tool.title,
      description: tool.description,
      inputSchema: inputSchema(own),
      outputSchema: outputSchema(jsonSchemaOf(tool.output)),
      annotations: annotationsOf(tool.title, tool.hints),
    },
    visibleTo: visibility(tool, own),
    call: (input, exchange) => govern(tool, input, exchange),
  };
}

export function annotationsOf(title: string, { readOnly, destructive, idempotent }: Tool['hints']): ToolDefinition['annotations'] {
  return { title, readOnlyHint: readOnly, destructiveHint: destructive, idempotentHint: idempotent, openWorldHint: false };
}

/** The path's parameters as the pipeline takes them. */
export function pathInput(tool: Tool, principal: Principal): Record<string, string> {
  return Object.fromEntries(credentialParameters(tool).map((name) => [name, principal.projectId]));
}

/** @throws Error for a parameter of the path that the credential does not tell */
function credentialParameters(tool: Tool): string[] {
  const names = pathParameters(tool);
  if (names.some((name) => name !== 'projectId')) throw new Error(`${tool.name}: MCP knows no parameters but the project`);
  return names;
}

function visibility(tool: Tool, own: ObjectSchema): McpTool['visibleTo'] {
  const grants = grantsOf(tool, own);
  return (principal) => (!tool.adminOnly || isAdmin(principal)) && grants.some((grant) => principal.grants.includes(grant));
}

/** Every grant that some input of the tool asks for: each property alone, with each value that its schema lists. */
function grantsOf({ grant }: Tool, own: ObjectSchema): readonly Grant[] {
  if (typeof grant === 'string') return [grant];
  const inputs = Object.entries(own.properties).flatMap(([name, { enum: values = [true] }]) => (values as unknown[]).map((value) => ({ [name]: value })));
  return [...new Set([{}, ...inputs].map(grant))];
}
