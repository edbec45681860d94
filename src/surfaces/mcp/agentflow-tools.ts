import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../base/json.js';
import { mapValues } from '../../base/map-values.js';
import { exposedAgentflows, type ExposedAgentflow } from '../../domain/agentflows/operations/exposed.js';
import type { Execution } from '../../domain/executions/record.js';
import type { DomainTool } from '../../domain/operation.js';
import type { ObjectSchema } from '../../governance/tools/json-schema.js';
import type { Collections } from '../../stores/collections.js';
import { patienceSeconds } from './execution-tools.js';
import { definitionOf, outputSchemaOf, type Govern, type McpTool } from './mcp-tool.js';

const Arguments = z.looseObject({ goal: z.string().min(1).max(20_000) });

const Failure = z.object({ code: z.string(), message: z.string() });
const Started = z.object({
  execution_id: z.string(),
  status: z.string().describe('`completed`, `failed`, or the state of a run that goes on: see `wait_for_execution`.'),
  version: z.int().nullable(),
  draft: z.boolean(),
  failure: Failure.optional().describe('Why the run has failed.'),
});
const started = outputSchemaOf(Started);

/**
 * The agentflows of a project as tools of their own. Each call is the governed operation of `run_agent`, and its result has the
 * typed output of the run.
 */
export function createAgentflowTools(
  collections: Collections,
  { runAgent, govern }: { runAgent: McpTool; govern: Govern },
) {
  return async (projectId: string): Promise<readonly McpTool[]> =>
    (await exposedAgentflows(collections, projectId)).map((exposed) => agentflowTool(exposed, runAgent, govern));
}

function agentflowTool(exposed: ExposedAgentflow, runAgent: McpTool, govern: Govern): McpTool {
  const { agentflow_id, tool: name, name: title, description, input_schema, output_schema, has_goal_input } = exposed;
  const { governed } = runAgent;
  const toInput = ({ goal, ...others }: z.infer<typeof Arguments>) =>
    governed.input.parse({ agentflow_id, goal, inputs: has_goal_input ? { goal, ...others } : others });
  const running: DomainTool = { ...governed, title, input: Arguments.transform(toInput) };
  const output = { description: 'What the run has returned.', ...inOutput(output_schema ?? {}) };
  const result = { ...started, properties: { ...started.properties, output } } as ObjectSchema;
  return {
    definition: definitionOf({
      ...{ name, title, description, output: result, hints: governed.hints },
      // The schema was checked when the agentflow was stored.
      input: input_schema,
    }),
    governed: running,
    visibleTo: runAgent.visibleTo,
    call: (args, exchange) => govern(running, args, exchange),
    run: {
      idIn: ({ execution_id: id }) => (typeof id === 'string' ? id : undefined),
      answer: (body, execution) => ({ ...body, ...endOf(execution) }),
      patience: () => patienceSeconds,
      startedHere: true,
    },
  };
}

/** What a result has of its run: the output once it has completed, or why it has failed. */
function endOf({ status, conclusion, execution_context }: Execution): Record<string, unknown> {
  if (conclusion) return { status, output: 'output' in conclusion ? conclusion.output : conclusion.conclusion };
  const failure = Failure.safeParse(execution_context.failure);
  return { status, ...(failure.success && { failure: failure.data }) };
}

/** Keywords whose value is data, and those whose value has schemas by name. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);
const namedSchemas: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);

/** The schema as that of the property `output`: its references are to its own parts. */
function inOutput(schema: JsonObject): JsonObject {
  const { $schema: _dialect, ...keywords } = schema;
  return mapValues(keywords, (value, keyword) => {
    if (dataKeywords.has(keyword)) return value;
    if (namedSchemas.has(keyword) && isJsonObject(value)) return mapValues(value, withReferencesToOutput);
    if (keyword === '$ref' && typeof value === 'string') return value.replace(/^#(?=\/|$)/, '#/properties/output');
    return withReferencesToOutput(value);
  });
}

function withReferencesToOutput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReferencesToOutput);
  return isJsonObject(value) ? inOutput(value) : value;
}
