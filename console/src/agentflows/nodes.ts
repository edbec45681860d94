import { listIn, pointersOf, reachableFrom } from '../flow/pointers.js';
import {
  idOf,
  isFields,
  newAgent,
  nodesOf,
  text,
  withAgent,
  withNewAgent,
  withValueAt,
  type Fields,
  type FlowDocument,
} from './document.js';
import { rowsOf } from './schema-rows.js';
import { stepKinds, type StepType } from './step-fields.js';

/** Replaces a node. `at` is its place among the agents and then the steps. */
export function withNode(document: FlowDocument, at: number, node: Fields): FlowDocument {
  const { agents, steps = [] } = document;
  if (at < agents.length) return withAgent(document, at, node);
  return { ...document, steps: steps.map((step, index) => (agents.length + index === at ? node : step)) };
}

/** Adds a node, to which the first free pointer of the node at `after` leads. In a chain, an agent becomes the last one. */
export function withNewNode(document: FlowDocument, type: StepType | 'agent', after: number): FlowDocument {
  const { agents, steps = [] } = document;
  if (type === 'agent' && steps.length === 0) return withNewAgent(document);
  const id = freeId(document, type === 'agent' ? 'agent-' : `${type}_`);
  const added =
    type === 'agent'
      ? { ...document, agents: [...agents, newAgent(id)] }
      : { ...document, steps: [...steps, { _id: id, type, title: '', ...stepKinds[type].blank }] };
  return followedBy(added, idOf(nodesOf(document)[after] ?? {}), id);
}

/** Lets the first free pointer of a node, if it has one, lead to another node. */
function followedBy(document: FlowDocument, from: string, to: string): FlowDocument {
  const node = nodesOf(document).find((each) => idOf(each) === from);
  const isFree = node && pointersOf(node).some((pointer) => pointer.to === '');
  return isFree ? connected(document, from, to) : document;
}

/**
 * Adds a copy of an agent or a step, also of another agentflow, to which the first free pointer of the node at `after` leads. The copy leads
 * nowhere, because two parts of a flow cannot share a node.
 */
export function withCopiedNode(
  document: FlowDocument,
  node: Fields,
  after: number,
): { document: FlowDocument; at: number } {
  const { agents, steps = [] } = document;
  const taken = nodesOf(document).some((each) => idOf(each) === idOf(node));
  const id = taken ? freeId(document, `${idOf(node).replace(/_\d+$/, '')}_`) : idOf(node);
  const copy = pointersOf(node).reduce((changed, { path, isPart }) => withValueAt(changed, path, isPart ? '' : null), {
    ...node,
    _id: id,
  } as Fields);
  const isAgent = node.type === undefined;
  const added = isAgent ? { ...document, agents: [...agents, copy] } : { ...document, steps: [...steps, copy] };
  return {
    document: followedBy(added, idOf(nodesOf(document)[after] ?? {}), id),
    at: isAgent ? agents.length : nodesOf(added).length - 1,
  };
}

function freeId(document: FlowDocument, prefix: string): string {
  const taken = new Set(nodesOf(document).map(idOf));
  let number = 1;
  while (taken.has(`${prefix}${number}`)) number += 1;
  return `${prefix}${number}`;
}

/** Sets the first free pointer of a node, or else the pointer to what follows it. */
export function connected(document: FlowDocument, from: string, to: string): FlowDocument {
  const at = nodesOf(document).findIndex((node) => idOf(node) === from);
  const node = nodesOf(document)[at];
  const pointers = node ? pointersOf(node) : [];
  const pointer = pointers.find((each) => each.to === '') ?? pointers.at(-1);
  if (!node || !pointer || pointers.some((each) => each.to === to)) return document;
  return withNode(document, at, withValueAt(node, pointer.path, to));
}

/** Lets all pointers to a node lead to another id. */
export function withPointersTo(document: FlowDocument, from: string, to: string): FlowDocument {
  const follow = (node: Fields) =>
    pointersOf(node)
      .filter((pointer) => pointer.to === from)
      .reduce((changed, { path }) => withValueAt(changed, path, to), node);
  const { agents, steps, initialAgent } = document;
  return {
    ...document,
    agents: agents.map(follow),
    ...(steps && { steps: steps.map(follow) }),
    ...(initialAgent === from && { initialAgent: to }),
  };
}

/** Removes a node. The pointers that led to it then lead to what followed it. */
export function withoutNode(document: FlowDocument, at: number): FlowDocument {
  const removed = nodesOf(document)[at];
  if (!removed) return document;
  const id = idOf(removed);
  const next = pointersOf(removed).at(-1)?.to ?? '';
  const follower = next === id ? '' : next;
  const redirected = (node: Fields) =>
    pointersOf(node)
      .filter(({ to }) => to === id)
      .reduce((changed, { path, isPart }) => withValueAt(changed, path, follower || (isPart ? '' : null)), node);
  const left = nodesOf(document)
    .filter((node) => node !== removed)
    .map(redirected);
  const count = document.agents.length - (at < document.agents.length ? 1 : 0);
  const { initialAgent, steps } = document;
  const first = follower || idOf(left[0] ?? {});
  return {
    ...document,
    agents: left.slice(0, count),
    ...(steps && { steps: left.slice(count) }),
    ...(initialAgent === id && { initialAgent: first }),
  };
}

/** Returns the names that an expression of a step can use, besides the fields of its own part. */
export function namesAt(document: FlowDocument, id: string): string[] {
  const nodes = nodesOf(document);
  const around = nodes.filter((node) =>
    pointersOf(node).some(({ isPart, to }) => isPart && idOf(node) !== id && reachableFrom(nodes, to).includes(id)),
  );
  const ofParts = around.flatMap(namesInPart);
  return [...new Set(['inputs', 'outputs.<id>', 'goal', 'execution', ...ofParts])];
}

/** Returns the names that a step adds to the expressions of its part. */
export function namesInPart({ type, as }: Fields): string[] {
  if (type === 'map') return ['item', ...(text(as) === '' ? [] : [text(as)]), 'index'];
  return type === 'loop' ? ['carry', 'index'] : [];
}

/** Returns what an expression of a step can begin with: inputs and outputs with their known fields, and the names of its parts. */
export function completionsAt(document: FlowDocument, step: Fields): string[] {
  const outputs = nodesOf(document)
    .filter((node) => node !== step)
    .flatMap((node) => {
      const name = /^[A-Za-z_]\w*$/.test(idOf(node)) ? `outputs.${idOf(node)}` : `outputs["${idOf(node)}"]`;
      return [name, ...outputFieldsOf(node).map((field) => `${name}.${field}`)];
    });
  const own = namesInPart(step);
  const names = namesAt(document, idOf(step)).filter((name) => !name.startsWith('outputs'));
  const inputs = fieldsOf(document.input_schema).map((field) => `inputs.${field}`);
  return [...new Set([...names, ...own, ...inputs, ...outputs])];
}

/** The fields that the output of an agent or a step is known to have. */
function outputFieldsOf(node: Fields): string[] {
  if (node.type === 'set') return isFields(node.values) ? Object.keys(node.values) : [];
  if (node.type === 'branch') return ['case'];
  if (node.type === 'loop') return ['output', 'rounds'];
  if (node.type === 'parallel') return listIn(node.branches).map(({ name }) => text(name));
  return fieldsOf(node.type === 'ask' ? node.form : node.output_schema);
}

const fieldsOf = (schema: unknown): string[] => (rowsOf(schema) ?? []).map(({ name }) => name);
