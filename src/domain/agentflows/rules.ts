import { actionProblems, connectorProblems, templateProblems } from './action-problems.js';
import { flowProblems } from './flow-problems.js';
import { cyclesIn, repeated } from './pointers.js';
export { actionProblems } from './action-problems.js';
export { callId } from './rules/call-id.js';
export { toolPrefix } from './rules/tool-schema.js';
import {
  setByService,
  type Agent,
  type Agentflow,
  type AgentflowDocument,
  type AgentflowPatch,
  type AgentPatch,
  type Concurrency,
  type NewAgent,
  type NewAgentflow,
} from './record.js';
import type { Action, Skill, NewAction, NewSchemaField, NewSkill, SchemaField } from './record/skills.js';
import type { Principal } from '../../auth/principal.js';
import { sha256Hex } from '../../base/hash.js';
import { newId } from '../../base/ids.js';
import { canonicalText } from '../../base/json.js';

const maxAgentflowBytes = 4 * 1024 * 1024;

/**
 * Lists every problem that would prevent the agentflow from running, each with its path. Agents that cannot be reached
 * from `initialAgent` are allowed, but cycles among them are not.
 */
export function agentflowProblems(
  agentflow: Pick<Agentflow, 'initialAgent' | 'agents' | 'steps' | 'failover_goal' | 'concurrency'>,
): string[] {
  const { agents, steps = [], initialAgent, failover_goal, concurrency } = agentflow;
  const nodes = agents.map((agent) => ({ id: agent._id, next: agent.next_agent }));
  return [
    ...sizeProblems(agentflow),
    ...duplicateIds('agents', nodes),
    ...initialAgentProblems(initialAgent, [...nodes, ...steps.map(({ _id }) => ({ id: _id }))]),
    ...(steps.length === 0
      ? [...danglingPointers('agents', 'next_agent', 'agent', nodes), ...cycles('agents', 'next_agent', nodes)]
      : flowProblems({ initialAgent, agents, steps })),
    ...agents.flatMap(agentProblems),
    ...failoverProblems(failover_goal),
    ...concurrencyProblems(concurrency ?? null),
  ];
}

/** Whether nothing could run. */
export function isEmpty({ agents, steps = [] }: Pick<Agentflow, 'agents' | 'steps'>): boolean {
  return agents.length === 0 && steps.length === 0;
}

interface Node {
  id: string;
  next: string | null;
}

/** Agents can be added one at a time, so the request size limit does not bound the record. MongoDB rejects documents over 16 MB. */
function sizeProblems(agentflow: unknown): string[] {
  const bytes = Buffer.byteLength(JSON.stringify(agentflow));
  return bytes > maxAgentflowBytes ? [`agents: the agentflow must not exceed ${maxAgentflowBytes} bytes`] : [];
}

function initialAgentProblems(initialAgent: string, nodes: readonly Pick<Node, 'id'>[]): string[] {
  if (initialAgent === '') return nodes.length === 0 ? [] : ['initialAgent: is required'];
  return hasNode(nodes, initialAgent) ? [] : [unknownTarget('initialAgent', 'agent', initialAgent)];
}

function failoverProblems(goal: unknown): string[] {
  const parsed = failoverGoalOf(goal);
  return typeof parsed === 'object' ? templateProblems('failover_goal.template', parsed.template) : [];
}

function concurrencyProblems(concurrency: Concurrency | null): string[] {
  if (!concurrency) return [];
  const { limit, key, limit_per_key } = concurrency;
  return [
    ...(limit === null && limit_per_key === null
      ? ['concurrency: requires limit or limit_per_key; for any number of runs at once, use null']
      : []),
    ...(limit_per_key !== null && key === null ? ['concurrency.limit_per_key: requires concurrency.key'] : []),
    ...(key === null ? [] : templateProblems('concurrency.key', key)),
  ];
}

/** The goal that the engine uses from the free-form field, or undefined if the field contains none. */
export function failoverGoalOf(value: unknown): string | { template: string } | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value !== 'object' || value === null || !('template' in value)) return undefined;
  return typeof value.template === 'string' && value.template.trim() !== '' ? { template: value.template } : undefined;
}

function agentProblems(agent: Agent): string[] {
  const where = `agents.${agent._id}`;
  return [
    ...templateProblems(`${where}.prompt.template`, agent.prompt.template),
    ...templateProblems(`${where}.prompt.display_template`, agent.prompt.display_template),
    ...duplicateIds(
      `${where}.skills`,
      agent.skills.map((skill) => ({ id: skill._id })),
    ),
    ...agent.skills.flatMap((skill) => skillProblems(`${where}.skills.${skill._id}`, skill)),
  ];
}

export function skillProblems(where: string, skill: Skill): string[] {
  const list = `${where}.actions`;
  const nodes = skill.actions.map((action) => ({ id: action._id, next: action.next_action_id }));
  const back = skill.actions.map((action) => ({ id: action._id, next: action.previous_action_id }));
  const initial = skill.initial_action_id;
  return [
    ...duplicateIds(list, nodes),
    ...(initial === null || hasNode(nodes, initial)
      ? []
      : [unknownTarget(`${where}.initial_action_id`, 'action', initial)]),
    ...danglingPointers(list, 'next_action_id', 'action', nodes),
    ...danglingPointers(list, 'previous_action_id', 'action', back),
    ...cycles(list, 'next_action_id', nodes),
    ...skill.actions.flatMap((action) => actionProblems(`${list}.${action._id}`, action)),
    ...skill.actions.flatMap((action) => connectorProblems(`${list}.${action._id}`, action, skill)),
  ];
}

function duplicateIds(list: string, nodes: readonly { id: string }[]): string[] {
  return repeated(nodes.map(({ id }) => id)).map((id) => `${list}: the _id ${JSON.stringify(id)} must be unique`);
}

function danglingPointers(list: string, pointer: string, kind: string, nodes: readonly Node[]): string[] {
  const ids = new Set(nodes.map(({ id }) => id));
  return nodes.flatMap(({ id, next }) =>
    next === null || ids.has(next) ? [] : [unknownTarget(`${list}.${id}.${pointer}`, kind, next)],
  );
}

function cycles(list: string, pointer: string, nodes: readonly Node[]): string[] {
  const next = new Map(nodes.map((node) => [node.id, node.next === null ? [] : [node.next]]));
  return cyclesIn(next).map((cycle) => `${list}: ${pointer} forms a cycle: ${cycle.join(' → ')}`);
}

function hasNode(nodes: readonly Pick<Node, 'id'>[], id: string): boolean {
  return nodes.some((node) => node.id === id);
}

function unknownTarget(where: string, kind: string, id: string): string {
  return `${where}: the ${kind} ${JSON.stringify(id)} does not exist`;
}

/** The creator. The record belongs to the project and organization of the credential, regardless of the request. */
type Creator = Pick<Principal, 'projectId' | 'organizationId' | 'userId'>;

/** Creates a complete agentflow from a request, with generated ids and default values. `at` is in epoch seconds. */
export function newAgentflow(request: NewAgentflow, creator: Creator, id: string, at: number): AgentflowDocument {
  const blank: AgentflowDocument = {
    _id: id,
    name: '',
    image: '',
    description: '',
    role: '',
    projectID: creator.projectId,
    organization_id: creator.organizationId,
    initialAgent: '',
    isActive: true,
    is_deleted: false,
    is_cron_scheduled: false,
    created_at: at,
    updated_at: at,
    last_used: at,
    anomaly_detection: { is_enabled: false, instructions: '' },
    marketplace_id: '',
    parent_agentflow_id: '',
    agentflow_type: 'master',
    goal_structure: null,
    conclusion: null,
    failover_goal: null,
    agents: [],
    revision: 1,
    edited_by: [creator.userId],
    updated_by: creator.userId,
  };
  return changedAgentflow(blank, request, creator);
}

const notContent: ReadonlySet<string> = new Set([...setByService, 'projectID']);

/** The digest of the fields that a client sets, for `expected` of a change. */
export function contentDigest(agentflow: Agentflow): string {
  return sha256Hex(
    canonicalText(Object.fromEntries(Object.entries(agentflow).filter(([name]) => !notContent.has(name)))),
  );
}

/** Keeps omitted fields; replaces `agents` as a whole. */
export function changedAgentflow(base: AgentflowDocument, change: AgentflowPatch, creator: Creator): AgentflowDocument {
  const { projectID: _checked, expected: _compared, agents, anomaly_detection, initialAgent, ...fields } = change;
  const changed: AgentflowDocument = {
    ...base,
    ...fields,
    anomaly_detection: { ...base.anomaly_detection, ...anomaly_detection },
    agents: agents?.map((agent) => newAgent(agent, creator)) ?? base.agents,
  };
  return initialAgent === undefined ? withInitialAgent(changed) : { ...changed, initialAgent };
}

export function withAgent(base: AgentflowDocument, agent: Agent): AgentflowDocument {
  return withInitialAgent({ ...base, agents: [...base.agents, agent] });
}

function withInitialAgent(agentflow: AgentflowDocument): AgentflowDocument {
  const first = agentflow.agents[0]?._id ?? agentflow.steps?.[0]?._id ?? '';
  return { ...agentflow, initialAgent: agentflow.initialAgent === '' ? first : agentflow.initialAgent };
}

export function newAgent(request: NewAgent, creator: Creator, id: string = newId()): Agent {
  const { _id = id, ...change } = request;
  const blank: Agent = {
    _id,
    title: '',
    role: '',
    role_description: '',
    llm: { model: '', temperature: null, max_tokens: null },
    context: [],
    has_knowledge_base: false,
    prompt: { template: '', variables: [], display_template: '' },
    triggers: [],
    is_preview_mode_enabled: false,
    pre_and_post_execution_input: null,
    skills: [],
    agent_type: 'skilled_agent',
    next_agent: null,
  };
  return changedAgent(blank, change, creator);
}

/** Keeps omitted fields, including those within `llm` and `prompt`; replaces `skills` as a whole. */
export function changedAgent(base: Agent, change: AgentPatch, creator: Creator): Agent {
  const { llm, prompt, skills, ...fields } = change;
  return {
    ...base,
    ...fields,
    llm: { ...base.llm, ...llm },
    prompt: { ...base.prompt, ...prompt },
    skills: skills?.map((skill) => newSkill(skill, creator)) ?? base.skills,
  };
}

export function newSkill(request: NewSkill, creator: Creator): Skill {
  const actions = request.actions.map(newAction);
  const { _id = newId(), initial_action_id = actions[0]?._id ?? null, ...fields } = request;
  return {
    _id,
    ...fields,
    projectID: creator.projectId,
    user_id: creator.userId,
    is_deleted: false,
    actions,
    initial_action_id,
  };
}

export function newAction(request: NewAction, place: number): Action {
  const { _id = newId(), sort = place, is_terminal = request.next_action_id === null, ...fields } = request;
  return {
    _id,
    ...fields,
    sort,
    is_terminal,
    input_schema: { fields: request.input_schema.fields.map(newField) },
    output_schema: { fields: request.output_schema.fields.map(newField) },
  };
}

function newField(request: NewSchemaField): SchemaField {
  return { ...request, label: request.label === '' ? request.field_id : request.label };
}
