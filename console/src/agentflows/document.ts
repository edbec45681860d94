import type { components } from '@client/openapi.js';

export type Agentflow = components['schemas']['Agentflow'];
/** An agentflow with who changed it last, and the digest on which a change is based. */
export type Edited = components['schemas']['EditedAgentflow'];
type Skill = components['schemas']['Skill'];

/**
 * An object with the values that the person typed. Only the API validates them, so that all error messages come from
 * it.
 */
export type Fields = Record<string, unknown>;

/** The part of an agentflow that a person edits. */
export interface FlowDocument extends Fields {
  agents: Fields[];
  steps?: Fields[];
}

const editable = [
  'name',
  'description',
  'role',
  'isActive',
  'initialAgent',
  'agentflow_type',
  'image',
  'goal_structure',
  'conclusion',
  'failover_goal',
  'anomaly_detection',
  'concurrency',
  'input_schema',
  'output_schema',
  'expose_as_tool',
] as const;

export function documentOf(agentflow: Agentflow): FlowDocument {
  return {
    ...Object.fromEntries(editable.map((name) => [name, agentflow[name]])),
    agents: agentflow.agents.map(({ skills, ...agent }) => ({ ...agent, skills: skills.map(skillOf) })),
    steps: (agentflow.steps ?? []).map((step) => ({ ...step })),
  };
}

/** Removes the fields that the API sets, because it does not accept them in a request. */
export function skillOf({ projectID: _project, user_id: _user, is_deleted: _deleted, ...skill }: Skill): Fields {
  return skill;
}

export const newDocument: FlowDocument = { name: '', description: '', agents: [newAgent('agent-1')] };

export function newAgent(id: string): Fields {
  return { _id: id, title: '', prompt: { template: '{{ goal }}' }, next_agent: null, skills: [] };
}

export const textOf = (document: FlowDocument): string => JSON.stringify(document, null, 2);

/** @throws Error with a message for people if the text is not a document */
export function documentIn(text: string): FlowDocument {
  const value = JSON.parse(text) as unknown;
  if (!isFields(value) || !Array.isArray(value.agents) || !value.agents.every(isFields))
    throw new Error('The JSON must be an object with "agents", a list of objects.');
  if (value.steps !== undefined && !(Array.isArray(value.steps) && value.steps.every(isFields)))
    throw new Error('"steps" must be a list of objects.');
  return value as FlowDocument;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Casts without a check, because the API validates the document. */
export const newBodyOf = (document: FlowDocument) => document as unknown as components['schemas']['AgentflowInput'];

/** Returns the top-level fields that differ. */
export function changesOf(document: Fields, before: Fields): Fields {
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before[name]);
  return Object.fromEntries(Object.entries(document).filter(isChanged));
}

/** Returns the value at a path such as `llm.model` or `cases.0.next`. */
export function valueAt(fields: Fields, path: string): unknown {
  const within = (part: unknown, name: string): unknown => {
    if (Array.isArray(part)) return part[Number(name)];
    return isFields(part) ? part[name] : undefined;
  };
  return path.split('.').reduce<unknown>(within, fields);
}

export function withValueAt(fields: Fields, path: string, value: unknown): Fields {
  const [first = '', ...rest] = path.split('.');
  return { ...fields, [first]: rest.length === 0 ? value : within(fields[first], rest.join('.'), value) };
}

/** Changes the value at a path in an object or a list. Anything else becomes an object. */
function within(part: unknown, path: string, value: unknown): unknown {
  if (!Array.isArray(part)) return withValueAt(isFields(part) ? part : {}, path, value);
  const [first = '', ...rest] = path.split('.');
  return part.map((each: unknown, at) => {
    if (String(at) !== first) return each;
    return rest.length === 0 ? value : within(each, rest.join('.'), value);
  });
}

/** Returns the agents and then the steps. */
export const nodesOf = ({ agents, steps = [] }: FlowDocument): Fields[] => [...agents, ...steps];

export function withAgent(document: FlowDocument, at: number, agent: Fields): FlowDocument {
  return { ...document, agents: document.agents.map((each, index) => (index === at ? agent : each)) };
}

/** Adds an agent after the last one of the flow. */
export function withNewAgent(document: FlowDocument): FlowDocument {
  const { agents } = document;
  const taken = new Set(agents.map(({ _id }) => _id));
  let number = agents.length + 1;
  while (taken.has(`agent-${number}`)) number += 1;
  const id = `agent-${number}`;
  const last = agents.findLastIndex(({ next_agent }) => next_agent === null || next_agent === undefined);
  const connected = agents.map((agent, at) => (at === last ? { ...agent, next_agent: id } : agent));
  return { ...document, agents: [...connected, newAgent(id)] };
}

export const titleOf = (node: Fields): string => text(node.title) || idOf(node);
/** Returns the title of an agent, or the title of a step with its type. */
export const nodeName = (node: Fields): string =>
  node.type === undefined ? titleOf(node) : `${titleOf(node)} · ${text(node.type)}`;
export const idOf = (node: Fields): string => text(node._id);
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
