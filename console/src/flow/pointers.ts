import { isFields, text, type Fields } from '../agentflows/document.js';

/** A pointer of an agent or a step: to the node that follows, or to the first node of a part. */
export interface Pointer {
  /** The path of its field, such as `next` or `cases.0.next`. */
  path: string;
  /** The id of an agent or a step; empty where this part of the flow ends. */
  to: string;
  /** The case, the branch, or what the part is for. */
  label?: string;
  isPart?: true;
}

/** Returns the pointers of an agent or, if it has a type, of a step. */
export function pointersOf(node: Fields): Pointer[] {
  const next: Pointer = { path: 'next', to: text(node.next) };
  switch (node.type) {
    case undefined:
      return [{ path: 'next_agent', to: text(node.next_agent) }];
    case 'branch':
      return [
        ...listIn(node.cases).map((each, at) => ({
          ...{ path: `cases.${at}.next`, to: text(each.next), label: text(each.name) },
        })),
        { path: 'otherwise', to: text(node.otherwise), label: 'otherwise' },
      ];
    case 'parallel':
      return [
        ...listIn(node.branches).map(({ name, first }, at): Pointer => ({
          ...{ path: `branches.${at}.first`, to: text(first), label: text(name), isPart: true },
        })),
        next,
      ];
    case 'map':
      return [{ path: 'first', to: text(node.first), label: 'each item', isPart: true }, next];
    case 'loop':
      return [{ path: 'first', to: text(node.first), label: 'each round', isPart: true }, next];
    case 'ask': {
      const timeout = text(node.on_timeout);
      const isStep = timeout !== '' && timeout !== 'fail';
      return [next, ...(isStep ? [{ path: 'on_timeout', to: timeout, label: 'timeout' }] : [])];
    }
    default:
      return [next];
  }
}

/** Returns the objects of a list; none if it is not a list. */
export function listIn(value: unknown): Fields[] {
  return (Array.isArray(value) ? value : []).filter(isFields);
}

interface Edge {
  from: string;
  to: string;
  label?: string;
}

/** Returns the edges between nodes. Pointers of a node that lead to the same node are one edge. */
export function edgesOf(nodes: readonly Fields[]): Edge[] {
  const ids = new Set(nodes.map(({ _id }) => text(_id)));
  return nodes.flatMap((node) => {
    const labels = new Map<string, string[]>();
    for (const { to, label } of pointersOf(node)) {
      if (!ids.has(to)) continue;
      labels.set(to, [...(labels.get(to) ?? []), ...(label === undefined ? [] : [label])]);
    }
    return [...labels].map(([to, names]) => ({
      ...{ from: text(node._id), to },
      ...(names.length > 0 && { label: names.join(', ') }),
    }));
  });
}

/** Returns the nodes that can be reached from one, in the order of the flow, and that one first. */
export function reachableFrom(nodes: readonly Fields[], id: string): string[] {
  const byId = new Map(nodes.map((node) => [text(node._id), node]));
  const reached = new Set<string>();
  const visit = (at: string): void => {
    const node = byId.get(at);
    if (!node || reached.has(at)) return;
    reached.add(at);
    for (const { to } of pointersOf(node)) visit(to);
  };
  visit(id);
  return [...reached];
}
