import { pointersOf, reachableFrom } from '../flow/pointers.js';
import {
  idOf,
  newAgent,
  nodesOf,
  text,
  withAgent,
  withNewAgent,
  withValueAt,
  type Fields,
  type FlowDocument,
} from './document.js';
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
  const before = nodesOf(document)[after];
  const free = before && pointersOf(before).find(({ to }) => to === '');
  return free ? connected(added, idOf(before), id) : added;
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
