import type { Connector } from '../api.js';
import { isFields, text, type Fields } from '../agentflows/document.js';
import { fieldsOf } from '../fields-of.js';
import { listIn } from '../flow/pointers.js';
import type { ImportedAction, ImportedField } from './import/imported.js';

export type Category = Connector['category'] | 'agentflow';

export const actionsOf = (skill: Fields): Fields[] => listIn(skill.actions);
export const fieldsIn = (action: Fields, schema: 'input_schema' | 'output_schema'): Fields[] =>
  listIn(isFields(action[schema]) ? action[schema].fields : undefined);
export const categoryOf = (action: Fields): Category => (text(action.category) || 'restful') as Category;

/** Returns `<prefix>1`, or the next id that is free. */
export function freeId(taken: readonly Fields[], prefix: string): string {
  const ids = new Set(taken.map(({ _id }) => _id));
  let number = taken.length + 1;
  while (ids.has(`${prefix}${number}`)) number += 1;
  return `${prefix}${number}`;
}

/** A skill whose actions the model calls when it needs them. */
export function newSkill(skills: readonly Fields[]): Fields {
  return {
    _id: freeId(skills, 'skill_'),
    name: '',
    description: '',
    connector_id: null,
    actions: [],
    initial_action_id: null,
  };
}

export function newAction(skill: Fields, category: Category): Fields {
  return {
    ...{ _id: freeId(actionsOf(skill), 'action_'), name: '', description: '', category, method: 'GET', endpoint: '' },
    ...{ next_action_id: null, input_schema: { fields: [] }, output_schema: { fields: [] } },
  };
}

/** Removes an action, and what refers to it. */
export function withoutAction(skill: Fields, action: Fields): Fields {
  const clear = (id: unknown) => (id === action._id ? null : id);
  return {
    ...skill,
    initial_action_id: clear(skill.initial_action_id),
    actions: actionsOf(skill)
      .filter((other) => other !== action)
      .map((other) =>
        other.next_action_id === action._id ? { ...other, next_action_id: null, is_terminal: true } : other,
      ),
  };
}

/** The categories of connectors that the actions of a skill can use; undefined if any. */
export function fittingConnectors(actions: readonly Fields[]): Category[] | undefined {
  const used = new Set(actions.map(categoryOf).filter((category) => category !== 'agentflow'));
  return used.size === 0 ? undefined : [...used];
}

/** The categories of actions that a skill with this connector can have. */
export function fittingActions(connector: Pick<Connector, 'category'> | undefined): Category[] {
  return [connector?.category ?? 'restful', 'agentflow'];
}

/** The address of a connector; undefined if it has none. */
export function baseUrlOf(connector: Connector | undefined): string | undefined {
  const base = fieldsOf(connector?.config).base_url;
  return typeof base === 'string' ? base : undefined;
}

/** Returns the address below the base URL of a connector as a path, and any other one as it is. */
export function belowBase(address: string, base: string | undefined): string {
  const root = base?.replace(/\/+$/, '');
  if (root === undefined || root === '' || !address.toLowerCase().startsWith(root.toLowerCase())) return address;
  const rest = address.slice(root.length);
  if (rest === '') return '/';
  return /^[/?]/.test(rest) ? rest.replace(/^\?/, '/?') : address;
}

const stored = (fields: readonly ImportedField[]) => ({ fields: fields.map((field) => ({ ...field, label: '' })) });

/** Adds what was imported as an action. */
export function withImported(skill: Fields, imported: ImportedAction, base: string | undefined): Fields {
  const { name, description, method, address, content_type, inputs, outputs } = imported;
  const action = {
    ...newAction(skill, 'restful'),
    ...{ name, description, method, endpoint: belowBase(address, base) },
    ...(content_type !== undefined && { content_type }),
    ...{ input_schema: stored(inputs), output_schema: stored(outputs) },
  };
  return { ...skill, actions: [...actionsOf(skill), action] };
}

/** The place of a field in an HTTP call, and whether it has a value of its own. */
export const hasOwnValue = ({ value }: Fields): boolean => value !== undefined && value !== null;

const variable = /\{\{-?\s*(?:inputs\.)?([A-Za-z_]\w*)\s*-?\}\}/g;

/** Returns the names of the variables of an address that are written alone, such as `{{ id }}`. */
export const variablesIn = (endpoint: string): string[] => [
  ...new Set([...endpoint.matchAll(variable)].map(([, name = '']) => name)),
];

/**
 * Returns the path of a test call: the address with values in place of its variables, and the fields of the query. Undefined if a
 * part of the address is another template, or the address is not below the base URL.
 */
export function testPath(action: Fields, base: string | undefined, values: Readonly<Record<string, string>>) {
  const filled = belowBase(text(action.endpoint), base).replace(variable, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  if (!filled.startsWith('/') || /\{[{%]/.test(filled)) return undefined;
  const query = queryFields(action)
    .filter(({ field_id }) => (values[text(field_id)] ?? '') !== '')
    .map(({ field_id }) => `${encodeURIComponent(text(field_id))}=${encodeURIComponent(values[text(field_id)] ?? '')}`);
  if (query.length === 0) return filled;
  return `${filled}${filled.includes('?') ? '&' : '?'}${query.join('&')}`;
}

/** The fields that a GET sends in its query. */
export function queryFields(action: Fields): Fields[] {
  const inAddress = new Set(variablesIn(text(action.endpoint)));
  return fieldsIn(action, 'input_schema').filter(
    (field) => field.in === 'query' || (field.in === undefined && !inAddress.has(text(field.field_id))),
  );
}
