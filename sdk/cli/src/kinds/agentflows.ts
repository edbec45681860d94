import type { AgentflowInput } from '../../../node/src/index.js';
import { paginate } from '../../../node/src/page.js';
import { oneByOne, plainOf, type Kind, type Remote } from '../kind.js';
import { complete, contentOf, digestOf, firstId, isObject, none, type Json, type Shape } from '../shape.js';

const text = '';

const action: Shape = {
  fields: {
    _id: none,
    name: none,
    description: text,
    category: 'restful',
    method: 'POST',
    endpoint: text,
    sort: none,
    previous_action_id: null,
    next_action_id: null,
    is_terminal: none,
    input_schema: { fields: [] },
    output_schema: { fields: [] },
  },
  derived: { sort: (_, place) => place, is_terminal: ({ next_action_id }) => (next_action_id ?? null) === null },
};
const skill: Shape = {
  fields: {
    _id: none,
    name: none,
    description: text,
    logo: text,
    connector_id: null,
    connector_name: text,
    initial_action_id: none,
    actions: [],
  },
  derived: { initial_action_id: ({ actions }) => firstId(actions) ?? null },
  parts: { actions: action },
  ignored: ['projectID', 'user_id', 'is_deleted'],
};
const agent: Shape = {
  fields: {
    _id: none,
    title: none,
    agent_type: 'skilled_agent',
    role: text,
    role_description: text,
    llm: {},
    prompt: {},
    context: [],
    has_knowledge_base: false,
    triggers: [],
    is_preview_mode_enabled: false,
    pre_and_post_execution_input: null,
    output_schema: null,
    skills: [],
    next_agent: null,
  },
  parts: {
    llm: { fields: { model: text, temperature: null, max_tokens: null } },
    prompt: { fields: { template: text, variables: [], display_template: text } },
    skills: skill,
  },
};
const agentflow: Shape = {
  fields: {
    name: none,
    description: text,
    role: text,
    image: text,
    isActive: true,
    agentflow_type: 'master',
    concurrency: null,
    expose_as_tool: false,
    input_schema: null,
    output_schema: null,
    goal_structure: null,
    conclusion: null,
    failover_goal: null,
    anomaly_detection: {},
    initialAgent: none,
    agents: [],
    steps: [],
  },
  derived: { initialAgent: ({ agents, steps }) => firstId(agents) ?? firstId(steps) ?? '' },
  parts: { anomaly_detection: { fields: { is_enabled: false, instructions: text } }, agents: agent },
  ignored: [
    '_id',
    'projectID',
    'organization_id',
    'is_deleted',
    'is_cron_scheduled',
    'created_at',
    'updated_at',
    'last_used',
    'marketplace_id',
    'parent_agentflow_id',
    'promoted_version',
    'updated_by',
    'digest',
  ],
};

const callsAgentflow = ({ category }: Json) => category === 'agentflow';

export const agentflows: Kind = {
  folder: 'agentflows',
  noun: 'agentflow',
  schema: 'AgentflowInput',
  shape: agentflow,
  required: ['name'],
  unnamed: 'flow',
  hasPrompts: true,
  references: [
    { path: ['agents', '*', 'skills', '*', 'connector_id'], to: ['connectors', 'tables'] },
    { path: ['agents', '*', 'skills', '*', 'actions', '*', 'endpoint'], to: ['agentflows'], when: callsAgentflow },
    { path: ['steps', '*', 'connector_id'], to: ['connectors', 'tables'] },
    { path: ['steps', '*', 'agentflow_id'], to: ['agentflows'] },
    { path: ['steps', '*', 'items', 'table_id'], to: ['tables'] },
  ],
  forEditors: allowPromptFile,
  nameOf: ({ name }) => String(name),
  async list({ platform }) {
    const found: Remote[] = [];
    for await (const each of paginate(platform.agentflows.list, { limit: 200 })) found.unshift(remoteOf(each));
    return found;
  },
  stubOf: ({ name }) => ({ name }),
  change: oneByOne({
    create: async ({ platform }, { content }) =>
      remoteOf(await platform.agentflows.create(complete(agentflow, content) as unknown as AgentflowInput)),
    update: async ({ platform }, { content }, { id, expected }) =>
      remoteOf(await platform.agentflows.update(id, { ...complete(agentflow, content), expected: String(expected) })),
    remove: ({ platform }, { id }) => platform.agentflows.delete(id),
  }),
};

function remoteOf(stored: unknown): Remote {
  const answer = stored as Json;
  const content = plainOf(agentflows, answer);
  return { id: String(answer._id), content, answer, expected: digestOf(contentOf(agentflow, answer)) };
}

/** A prompt in a file names its Markdown file instead of its template. */
function allowPromptFile({ $defs }: Json): void {
  const agent = isObject($defs) ? $defs.AgentInput : undefined;
  const prompt = isObject(agent) && isObject(agent.properties) ? agent.properties.prompt : undefined;
  if (isObject(prompt) && isObject(prompt.properties)) prompt.properties.file = { type: 'string', pattern: '\\.md$' };
}
