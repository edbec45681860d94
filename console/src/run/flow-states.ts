import type { Execution, Step } from '../api.js';
import { edgesOf, pointersOf, reachableFrom } from '../flow/pointers.js';
import { groupBy } from '../group-by.js';
import { stateOf, waitingOf } from '../states.js';
import { placeOf } from './flow-path.js';

type Agent = Execution['agentflow']['agents'][number];
export type FlowStep = NonNullable<Execution['agentflow']['steps']>[number];
export type FlowNode = Agent | FlowStep;
type Output = Execution['agents_output'][number];

export const isStep = (node: FlowNode): node is FlowStep => 'type' in node;

const fieldsOf = (node: FlowNode) => node as Record<string, unknown>;

/** Returns the agents and steps in the order of the flow. */
export function inOrder({ agentflow: { agents, steps = [], initialAgent } }: Execution): FlowNode[] {
  const nodes: FlowNode[] = [...agents, ...steps];
  const byId = new Map(nodes.map((node) => [node._id, node]));
  const reached = reachableFrom(nodes.map(fieldsOf), initialAgent);
  return [...new Set([...reached, ...byId.keys()])].flatMap((id) => byId.get(id) ?? []);
}

/** The records of a run, as the state of its nodes is found in them. */
interface Records {
  run: Execution;
  byId: ReadonlyMap<string, FlowNode>;
  ofNode: ReadonlyMap<string, readonly Step[]>;
  ofPath: ReadonlyMap<string, readonly Step[]>;
  /** The paths of the parts of a step, by the place of the step. */
  partsAt: ReadonlyMap<string, readonly string[]>;
  outputs: ReadonlySet<string>;
}

export interface FlowStates {
  nodes: readonly FlowNode[];
  edges: ReturnType<typeof edgesOf>;
  state: Readonly<Record<string, string>>;
  /** What the items of a `map` or the rounds of a `loop` have come to, or the runs of a step in them, by the id of the step. */
  parts: Readonly<Record<string, string>>;
}

/** Returns what monitoring says about the nodes of a flow. */
export function flowStatesOf(run: Execution, allSteps: readonly Step[]): FlowStates {
  const nodes = inOrder(run);
  // The second pass, after a failover, has ids of its own.
  const { failover } = run.execution_context;
  const hasFailover = failover !== undefined && failover !== null;
  const steps = hasFailover ? allSteps.filter(({ step_id }) => step_id.startsWith('failover/')) : allSteps;
  const ofPath = groupBy(steps, ({ path = '' }) => path);
  const records: Records = {
    run,
    byId: new Map(nodes.map((node) => [node._id, node])),
    ofNode: groupBy(steps, nodeIdOf),
    ofPath,
    partsAt: groupBy([...ofPath.keys()], (path) => path.slice(0, Math.max(0, path.lastIndexOf('/')))),
    outputs: new Set(run.agents_output.map(outputPlace)),
  };
  return {
    nodes,
    edges: edgesOf(nodes.map(fieldsOf)),
    state: Object.fromEntries(nodes.map((node) => [node._id, stateOfNode(records, node)])),
    parts: Object.fromEntries(nodes.map((node) => [node._id, partsText(records, node)])),
  };
}

const outputPlace = ({ agent_id, path }: Output): string => placeOf(agent_id, path);
const isOpen = ({ status }: Step): boolean => status === 'running' || status === 'waiting';
/** Returns the agent or the step of the flow that a record is about. */
export const nodeIdOf = ({ agent_id, step_id }: Step): string => agent_id || (step_id.split('/').at(-1) ?? '');

/** A node that runs on several paths has the first of these states that it has on one of them. */
export const precedence = ['running', 'waiting', 'paused', 'failed', 'cancelled', 'completed'];

function stateOfNode(all: Records, node: FlowNode): string {
  const records = all.ofNode.get(node._id) ?? [];
  if (records.length === 0) {
    if (all.outputs.has(node._id)) return 'completed';
    return waitingOf(all.run)?.agent_id === node._id ? stateOf(all.run) : 'not started';
  }
  const onPaths = groupBy(records, ({ path = '' }) => path);
  const states = [...onPaths.values()].map((onPath) => stateOn(all, node, onPath));
  return precedence.find((state) => states.includes(state)) ?? states[0] ?? 'not started';
}

/** Returns the state of a node on one path, from its records there. */
function stateOn({ run, outputs }: Records, node: FlowNode, records: readonly Step[]): string {
  const last = records.at(-1);
  if (!isStep(node) && outputs.has(placeOf(node._id, last?.path))) return 'completed';
  const open = records.find(isOpen)?.status;
  if (open !== undefined) return open;
  if (isStep(node)) return last?.status ?? 'not started';
  const isPartOver = last?.path !== undefined && last.status !== 'completed';
  // An agent that has started and has no output has the state of the run.
  return isPartOver ? last.status : stateOf(run);
}

const partStates = ['done', 'failed', 'cancelled', 'running'] as const;
type PartState = (typeof partStates)[number];

/** Returns a text such as `3 of 4 done, 1 failed`, or `3 done, 1 running` while more parts can follow. */
function partsText(all: Records, node: FlowNode): string {
  if (!isStep(node) || (node.type !== 'map' && node.type !== 'loop')) return '';
  const owners = all.ofNode.get(node._id) ?? [];
  const states = owners.flatMap((owner) => {
    const paths = all.partsAt.get(placeOf(node._id, owner.path)) ?? [];
    return paths.map((path) => partState(all, path, isOpen(owner)));
  });
  if (states.length === 0) return '';
  const isOver = !owners.some(isOpen);
  return partStates
    .map((name) => ({ name, count: states.filter((state) => state === name).length }))
    .filter(({ name, count }) => count > 0 || name === 'done')
    .map(({ name, count }) => (name === 'done' && isOver ? `${count} of ${states.length} done` : `${count} ${name}`))
    .join(', ');
}

function partState(all: Records, path: string, isOwnerOpen: boolean): PartState {
  const records = all.ofPath.get(path) ?? [];
  const last = records.at(-1);
  if (!last || records.some(isOpen)) return 'running';
  if (last.status === 'failed' || last.status === 'cancelled') return last.status;
  // Between two of its steps, a part is not done.
  return isOwnerOpen && goesOnAfter(all, last) ? 'running' : 'done';
}

/** Whether more steps follow a record on its path. */
function goesOnAfter({ byId, outputs }: Records, last: Step): boolean {
  const node = byId.get(nodeIdOf(last));
  if (!node) return false;
  if (!isStep(node)) return node.next_agent !== null || !outputs.has(placeOf(node._id, last.path));
  const chosen = (last.output as { case?: string | null } | undefined)?.case ?? 'otherwise';
  return pointersOf(fieldsOf(node))
    .filter(({ isPart, label }) => !isPart && (node.type !== 'branch' || label === chosen))
    .some(({ to }) => to !== '');
}
