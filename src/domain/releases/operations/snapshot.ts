import { isJsonObject } from '../../../base/json.js';
import { pick } from '../../../base/pick.js';
import type { Collections, Documents } from '../../../stores/collections.js';
import { agentflowProblems, isEmpty } from '../../agentflows/rules.js';
import { ownValue, production } from '../../agentflows/record/channels.js';
import { tableProblems } from '../../agentflows/operations/table-problems.js';
import type { AgentflowDocument } from '../../agentflows/record.js';
import { mcpToolId, type McpToolDefinition } from '../../mcp-servers/record.js';
import type { ReleaseContent, ReleasedFlow, ReleasedTool, Slot } from '../record.js';
import { actionsOf, startsOf } from '../rules/starts.js';
import { connectorIdsOf, digestOf, slotNames, tableIdsOf } from '../rules/content.js';

type Stores = Pick<
  Collections,
  'connectors' | 'tables' | 'mcp_tools' | 'project_models' | 'agentflows' | 'agentflow_versions'
>;

export interface Snapshot {
  content: ReleaseContent;
  digest: string;
  /** Why it cannot be published. */
  problems: string[];
}

/** What a release of this agentflow would contain now. */
export async function snapshotOf(collections: Stores, agentflow: AgentflowDocument): Promise<Snapshot> {
  const own = isEmpty(agentflow) ? ['the agentflow has no agents'] : agentflowProblems(agentflow);
  const [connected, started, default_model] = await Promise.all([
    slotsOf(collections, agentflow),
    startedFlows(collections, agentflow),
    defaultModelOf(collections, agentflow),
  ]);
  const used = await toolsOf(collections, agentflow, connected.slots);
  const { channels: _channels, ...stored } = agentflow;
  const content = { agentflow: stored, slots: connected.slots, tools: used.tools, flows: started.flows, default_model };
  return {
    content,
    digest: digestOf(content),
    problems: [
      ...own,
      ...(await tableProblems(collections, agentflow)),
      ...connected.problems,
      ...used.problems,
      ...started.problems,
    ],
  };
}

async function slotsOf({ connectors, tables }: Stores, agentflow: AgentflowDocument) {
  const used = await tables
    .find({ _id: { $in: tableIdsOf(agentflow) }, projectID: agentflow.projectID }, { projection: { connector_id: 1 } })
    .toArray();
  const tableOf = new Map(used.map(({ _id, connector_id }) => [connector_id, _id]));
  const ids = [...new Set([...connectorIdsOf(agentflow), ...tableOf.keys()])];
  const found = await connectorsBy(connectors, agentflow.projectID, ids);
  const names = slotNames(ids.map((id) => found.get(id)?.name ?? 'missing'));
  const slots = ids.map((connector_id, index): Slot => {
    const category = found.get(connector_id)?.category ?? '';
    const table_id = tableOf.get(connector_id);
    return { name: names[index] ?? '', category, connector_id, ...(table_id !== undefined && { table_id }) };
  });
  const problems = ids
    .filter((id) => !found.has(id))
    .map((id) => `the agentflow uses the connector ${JSON.stringify(id)}, which does not exist in the project`);
  return { slots, problems };
}

type Connector = Documents['connectors'];

export async function connectorsBy(
  connectors: Collections['connectors'],
  projectID: string,
  ids: readonly string[],
): Promise<Map<string, Connector>> {
  if (ids.length === 0) return new Map();
  const found = await connectors.find({ _id: { $in: [...ids] } }).toArray();
  return new Map(
    found.filter((each) => each.projectID === projectID && !each.is_deleted).map((each) => [each._id, each]),
  );
}

/** The MCP tools of all actions, with the place of each. */
function mcpActionsOf({ agents, steps = [] }: AgentflowDocument) {
  const calls = [
    ...actionsOf({ agents }).map(({ action, skill, where }) => ({ action, connector_id: skill.connector_id, where })),
    ...steps.flatMap((step) =>
      step.type === 'action'
        ? [{ action: step.action, connector_id: step.connector_id, where: `steps.${step._id}.action` }]
        : [],
    ),
  ];
  return calls.filter(({ action }) => action.category === 'mcp');
}

async function toolsOf({ mcp_tools }: Stores, agentflow: AgentflowDocument, slots: readonly Slot[]) {
  const used = mcpActionsOf(agentflow).map(({ action, connector_id, where }) => ({
    id: mcpToolId(connector_id ?? '', action.endpoint),
    slot: slots.find((slot) => slot.connector_id === connector_id)?.name ?? '',
    where,
    name: action.endpoint,
  }));
  const ids = [...new Set(used.map(({ id }) => id))];
  const found = ids.length === 0 ? [] : await mcp_tools.find({ _id: { $in: ids } }).toArray();
  const accepted = new Map(
    found.filter(({ projectID }) => projectID === agentflow.projectID).map((each) => [each._id, each]),
  );
  const tools = ids.flatMap((id): ReleasedTool[] => {
    const tool = accepted.get(id);
    const slot = used.find((each) => each.id === id)?.slot ?? '';
    return tool ? [{ slot, name: tool.name, hash: tool.hash, is_destructive: isDestructive(tool.definition) }] : [];
  });
  const problems = used
    .filter(({ id }) => !accepted.has(id))
    .map(({ where, name }) => `${where}.endpoint: the connector has no accepted tool ${JSON.stringify(name)}`);
  return { tools, problems };
}

/** MCP, tool annotations: a tool that is not read-only is destructive unless `destructiveHint` is false. */
function isDestructive(definition: string): boolean {
  const { annotations } = JSON.parse(definition) as McpToolDefinition;
  if (!isJsonObject(annotations)) return true;
  return annotations.readOnlyHint !== true && annotations.destructiveHint !== false;
}

async function startedFlows(collections: Stores, agentflow: AgentflowDocument) {
  const flows: ReleasedFlow[] = [];
  const problems: string[] = [];
  for (const { where, step_id, agentflow_id, version } of startsOf(agentflow)) {
    if (agentflow_id === agentflow._id && version === undefined) {
      flows.push({ step_id, agentflow_id, version: 0, digest: 'itself' });
      continue;
    }
    const released = await releasedFlow(collections, agentflow.projectID, agentflow_id, version);
    if ('problem' in released) problems.push(`${where}: ${released.problem}`);
    else flows.push({ step_id, agentflow_id, ...released });
  }
  return { flows, problems };
}

async function releasedFlow(
  { agentflows, agentflow_versions }: Stores,
  projectID: string,
  id: string,
  wanted: number | undefined,
): Promise<{ version: number; digest: string } | { problem: string }> {
  const started = await agentflows.findOne({ _id: id });
  if (!started || started.is_deleted || started.projectID !== projectID)
    return { problem: `the agentflow ${JSON.stringify(id)} does not exist in the project` };
  const pointer = ownValue(started.channels, production);
  const version = wanted ?? pointer?.version;
  if (version === undefined)
    return {
      problem: `the agentflow ${JSON.stringify(started.name)} has no release in production: promote it first with POST /agentflow/${id}/promote`,
    };
  const release = await agentflow_versions.findOne({ _id: `${id}:${version}` }, { projection: { digest: 1 } });
  return release
    ? { version, digest: release.digest }
    : { problem: `the agentflow ${JSON.stringify(started.name)} has no release ${version}` };
}

async function defaultModelOf(
  { project_models }: Stores,
  { agents, projectID }: AgentflowDocument,
): Promise<ReleaseContent['default_model']> {
  if (agents.every(({ llm }) => llm.model !== '')) return null;
  const found = await project_models.findOne({ _id: projectID });
  return found ? pick(found, 'model', 'temperature', 'max_tokens') : null;
}
