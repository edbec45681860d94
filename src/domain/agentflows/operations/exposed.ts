import { isJsonObject, type JsonObject } from '../../../base/json.js';
import type { Collections } from '../../../stores/collections.js';
import type { AgentflowDocument } from '../record.js';
import { argumentsSchema, toolNameOf } from '../rules/tool-schema.js';

type Stores = Pick<Collections, 'agentflows' | 'agentflow_versions'>;

/** The maximum number of agentflows of a project that are tools: clients give all tools to their model. */
const maxExposed = 100;
/** Arguments that all tools have for themselves, and fields that no call may have. */
const reserved: ReadonlySet<string> = new Set(['dry_run', 'approval_id', 'projectid', 'project_id']);

/** An agentflow whose release in production is a tool. */
export interface ExposedAgentflow {
  agentflow_id: string;
  name: string;
  tool: string;
  version: number;
  description: string;
  /** Of the arguments: the goal and the inputs. */
  input_schema: ReturnType<typeof argumentsSchema>;
  /** Of the output. */
  output_schema: JsonObject | undefined;
  /** Whether the goal is also an input. */
  has_goal_input: boolean;
}

/** The agentflows of a project that are tools. Of two with the same name, the older one is the tool. */
export async function exposedAgentflows(
  { agentflows, agentflow_versions }: Stores,
  projectID: string,
): Promise<ExposedAgentflow[]> {
  const saved = await agentflows
    .find({ projectID, expose_as_tool: true, is_deleted: false, isActive: true, promoted_version: { $exists: true } })
    .project<Pick<AgentflowDocument, '_id' | 'name' | 'promoted_version'>>({ name: 1, promoted_version: 1 })
    .sort({ _id: 1 })
    .limit(maxExposed)
    .toArray();
  if (saved.length === 0) return [];
  const keys = saved.map(({ _id, promoted_version }) => `${_id}:${promoted_version}`);
  const releases = await agentflow_versions
    .find({ _id: { $in: keys } })
    .project<{ _id: string; agentflow: AgentflowDocument }>(releaseFields)
    .toArray();
  const byKey = new Map(releases.map((release) => [release._id, release.agentflow]));
  const taken = new Set<string>();
  return saved.flatMap(({ _id, name, promoted_version: version = 0 }) => {
    const tool = toolNameOf(name);
    const released = byKey.get(`${_id}:${version}`);
    if (tool === undefined || !released || taken.has(tool) || reservedIn(released).length > 0) return [];
    taken.add(tool);
    return [toExposed({ _id, name, tool, version }, released)];
  });
}

const releaseFields = { 'agentflow.description': 1, 'agentflow.input_schema': 1, 'agentflow.output_schema': 1 };

function toExposed(
  { _id: agentflow_id, ...of }: { _id: string; name: string; tool: string; version: number },
  { description, input_schema, output_schema }: AgentflowDocument,
): ExposedAgentflow {
  return {
    agentflow_id,
    ...of,
    description: description || `Runs the agentflow "${of.name}".`,
    input_schema: argumentsSchema(input_schema ?? {}),
    output_schema: output_schema ?? undefined,
    has_goal_input: inputsOf(input_schema).includes('goal'),
  };
}

function inputsOf(schema: AgentflowDocument['input_schema']): string[] {
  return isJsonObject(schema?.properties) ? Object.keys(schema.properties) : [];
}

function reservedIn({ input_schema }: Pick<AgentflowDocument, 'input_schema'>): string[] {
  return inputsOf(input_schema).filter((name) => reserved.has(name.toLowerCase()));
}

/** Why the agentflow cannot be a tool. */
export async function exposureProblems(
  { agentflows }: Pick<Stores, 'agentflows'>,
  agentflow: AgentflowDocument,
): Promise<string[]> {
  if (agentflow.expose_as_tool !== true) return [];
  const { _id, projectID, name } = agentflow;
  const tool = toolNameOf(name);
  if (tool === undefined)
    return ['expose_as_tool: the name of a tool has letters from a to z or digits, and `name` has none'];
  const problems = reservedIn(agentflow).map(
    (input) => `expose_as_tool: the input ${JSON.stringify(input)} has the name of an argument of all tools`,
  );
  const others = await agentflows
    .find({ projectID, expose_as_tool: true, is_deleted: false, _id: { $ne: _id } })
    .project<Pick<AgentflowDocument, '_id' | 'name'>>({ name: 1 })
    .sort({ _id: 1 })
    .limit(maxExposed)
    .toArray();
  const same = others.find((other) => toolNameOf(other.name) === tool);
  if (same) problems.push(`expose_as_tool: the agentflow ${JSON.stringify(same.name)} is already the tool ${tool}`);
  if (others.length >= maxExposed)
    problems.push(`expose_as_tool: at most ${maxExposed} agentflows of a project can be tools`);
  return problems;
}
