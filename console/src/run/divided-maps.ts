import type { components } from '@client/openapi.js';
import type { Step } from '../api.js';
import { quantity } from '../quantity.js';
import { isStep, precedence, type FlowNode, type FlowStates } from './flow-states.js';

type Graph = components['schemas']['ExecutionGraph'];
type Counts = Graph['nodes'][number]['runs'];

/** Returns the ids of the maps whose items other runs work on. The records of this run know nothing of these items. */
export function dividedMapsIn(steps: readonly Step[]): ReadonlySet<string> {
  const places = steps.filter(({ kind }) => kind === 'startSlice').map(({ path = '' }) => path.split('/').at(-2) ?? '');
  return new Set(places);
}

const totalOf = (runs: Counts): number => Object.values({ ...runs }).reduce((total, count) => total + count, 0);

function countsText(runs: Counts): string {
  const counts = Object.entries({ ...runs }).filter(([, count]) => count > 0);
  return counts.map(([state, count]) => `${count.toLocaleString()} ${state}`).join(', ');
}

function stateOf(runs: Counts): string {
  return precedence.find((state) => (runs[state as keyof Counts] ?? 0) > 0) ?? 'not started';
}

/** Adds what the graph of the run counts in the items of divided maps. */
export function withItems(states: FlowStates, divided: ReadonlySet<string>, graph: Graph): FlowStates {
  const runsOf = new Map(graph.nodes.map(({ id, runs }) => [id, runs]));
  const isElsewhere = ({ _id }: FlowNode) =>
    states.state[_id] === 'not started' && totalOf(runsOf.get(_id) ?? none) > 0;
  const elsewhere = states.nodes.filter(isElsewhere).map(({ _id }) => [_id, runsOf.get(_id) ?? none] as const);
  const maps = states.nodes.filter((node) => isStep(node) && divided.has(node._id));
  const itemsOf = (node: FlowNode) => totalOf(runsOf.get(String((node as { first?: unknown }).first)) ?? none);
  const itemsText = (node: FlowNode) => {
    const items = quantity(itemsOf(node), 'item');
    return states.state[node._id] === 'completed' ? items : `${items} begun`;
  };
  return {
    ...states,
    state: { ...states.state, ...Object.fromEntries(elsewhere.map(([id, runs]) => [id, stateOf(runs)])) },
    parts: {
      ...states.parts,
      ...Object.fromEntries(maps.map((node) => [node._id, itemsText(node)])),
      ...Object.fromEntries(elsewhere.map(([id, runs]) => [id, countsText(runs)])),
    },
  };
}

const none: Counts = { running: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 };
