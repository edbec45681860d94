import { fieldsOf } from '../fields-of.js';
import { listIn } from '../flow/pointers.js';
import { agentFields } from './agent-fields.js';
import { idOf, isFields, nodesOf, valueAt, type Fields, type FlowDocument } from './document.js';
import { stepKindOf, type StepField } from './step-fields.js';

/**
 * Returns the form field for a path in a validation error. Agents, steps, skills and actions are named by index or id. The name of a field of a node begins with its place among the agents and then the steps.
 */
export function fieldOf(path: string, document: FlowDocument | undefined): string | undefined {
  if (!document) return undefined;
  const [list = '', name = '', ...rest] = path.split('.');
  if (list !== 'agents' && list !== 'steps') return path in flowFields ? path : undefined;
  const nodes = list === 'agents' ? document.agents : (document.steps ?? []);
  const found = nodes.findIndex((node, index) => String(index) === name || idOf(node) === name);
  const node = nodes[found];
  if (!node) return undefined;
  const at = nodesOf(document).indexOf(node);
  if (list === 'agents' && rest[0] === 'skills') return `${at}.${skillPath(node, rest)}`;
  if (list === 'steps' && rest[0] === 'action')
    return [at, 'action', ...placeInAction(fieldsOf(node.action), rest.slice(1))].join('.');
  const inNode = rest.join('.');
  const fields = list === 'agents' ? agentFields.map((field) => field.path) : stepPaths(node);
  const candidates = list === 'agents' ? [inNode] : [inNode, withIndex(node, rest)];
  const field = fields
    .filter((known) => candidates.some((each) => each === known || each.startsWith(`${known}.`)))
    .reduce((longest, known) => (known.length > longest.length ? known : longest), '');
  return field === '' ? undefined : `${at}.${field}`;
}

const skillFields = new Set(['name', 'description', 'connector_id', 'initial_action_id']);
const actionFields = new Set(
  'name description method endpoint content_type summary next_action_id'
    .split(' ')
    .concat('input_schema', 'output_schema'),
);

/** Returns the longest part of a path in the skills of an agent that has a place in the form, by indexes. */
function skillPath(agent: Fields, [, skillName, ...rest]: readonly string[]): string {
  const skills = listIn(agent.skills);
  const s = placeOf(skills, '_id', skillName);
  if (s < 0) return 'skills';
  const [first = '', actionName, ...inAction] = rest;
  if (first !== 'actions') return ['skills', s, ...(skillFields.has(first) ? [first] : [])].join('.');
  const actions = listIn(skills[s]?.actions);
  const a = placeOf(actions, '_id', actionName);
  if (a < 0) return `skills.${s}`;
  return ['skills', s, 'actions', a, ...placeInAction(actions[a] ?? {}, inAction)].join('.');
}

function placeInAction(action: Fields, [name = '', , fieldName, property]: readonly string[]): (string | number)[] {
  if (!actionFields.has(name)) return [];
  if (!name.endsWith('_schema')) return [name];
  const f = placeOf(listIn(valueAt(action, `${name}.fields`)), 'field_id', fieldName);
  return f < 0 ? [] : [name, 'fields', f, ...(property === undefined ? [] : [property])];
}

const placeOf = (list: readonly Fields[], key: string, name: string | undefined): number =>
  list.findIndex((each, index) => String(index) === name || each[key] === name);

/** Cases and branches are named by index or by name. */
function withIndex(step: Fields, [list = '', name = '', ...rest]: readonly string[]): string {
  const at = list === 'cases' || list === 'branches' ? listIn(step[list]).findIndex((one) => one.name === name) : -1;
  return [list, at < 0 ? name : String(at), ...rest].join('.');
}

/** Returns the paths of the fields that the form of a step shows. */
function stepPaths(step: Fields): string[] {
  const fields = stepKindOf(step)?.fields ?? [];
  return ['_id', 'title', ...fields.flatMap((field) => pathsOf(step, field))];
}

function pathsOf(step: Fields, { kind, path }: StepField): string[] {
  if (kind === 'decide') return ['decide.instructions'];
  if (kind === 'action') return ['connector_id', ...Object.keys(fieldsOf(step.inputs)).map((name) => `inputs.${name}`)];
  if (kind === 'items') return ['items', ...['table_id', 'filter', 'sort', 'limit'].map((name) => `items.${name}`)];
  if (kind === 'wait') return ['seconds', 'until', 'event.name', 'event.match', 'event.deadline_seconds'];
  if (kind === 'cases' || kind === 'branches') {
    const names = kind === 'cases' ? ['name', 'when', 'description', 'next'] : ['name', 'first'];
    return [path, ...listIn(step[path]).flatMap((_, at) => names.map((name) => `${path}.${at}.${name}`))];
  }
  const value = step[path];
  if (kind !== 'values' || !isFields(value)) return [path];
  return [path, ...Object.keys(value).map((name) => `${path}.${name}`)];
}

const flowFields = {
  ...{ name: '', description: '', role: '', initialAgent: '', isActive: '', expose_as_tool: '', failover_goal: '' },
  'anomaly_detection.instructions': '',
  ...{ input_schema: '', output_schema: '' },
  ...{ concurrency: '', 'concurrency.limit': '', 'concurrency.key': '', 'concurrency.limit_per_key': '' },
};
