import { z } from 'zod';
import { partsOf, successorsOf } from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import type { StepRecord } from '../../../workflows/agentflow-execution/step-record.js';
import type { Principal } from '../../auth/principal.js';
import { Id } from '../../base/ids.js';
import type { Deps } from '../deps.js';
import { readExecution, readLiveState } from './operations/read.js';
import { Execution, type ExecutionDocument } from './record.js';
import { isOnPath, runOfPath, slicesWithin } from './slices.js';
import { isOfFlowStep, nodeOf } from './step-place.js';

const Count = z.int().meta({ example: 1 });

const GraphNode = z.object({
  id: z.string().meta({ example: 'each' }),
  kind: z.string().describe('`agent`, or the type of the step.').meta({ example: 'map' }),
  title: z.string().meta({ example: 'Each order' }),
  runs: z
    .object({ running: Count, waiting: Count, completed: Count, failed: Count, cancelled: Count })
    .describe('How often it has run, by state. In a `map` or a `loop`, a node runs many times.'),
});

const GraphEdge = z.object({
  from: z.string().meta({ example: 'each' }),
  to: z.string().meta({ example: 'price' }),
  kind: z
    .enum(['next', 'part'])
    .describe('`part` leads to the first node of a branch, an item or a round.')
    .meta({ example: 'part' }),
  label: z.string().describe('The name of the case or branch; empty for others.').meta({ example: '' }),
});

/** The flow of an execution as a picture shows it. */
export const FlowGraph = z
  .object({
    execution_id: Id,
    status: Execution.shape.status,
    first: z.string().describe('The node that runs first.').meta({ example: 'each' }),
    nodes: z.array(GraphNode),
    edges: z.array(GraphEdge),
  })
  .meta({ id: 'ExecutionGraph' });
type Graph = z.infer<typeof FlowGraph>;
type State = keyof Graph['nodes'][number]['runs'];

/** The graph with the counts of a run and the slices that it has divided, or only those on a path. */
export async function readGraph(
  deps: Deps,
  principal: Principal,
  executionId: string,
  wanted?: string,
): Promise<Graph> {
  const { executions } = deps.mongo.collections;
  const named = await readExecution(deps, principal, executionId);
  const { record: found, path } = await runOfPath(executions, named, wanted ?? '');
  const { record, live } = await readLiveState(deps, found);
  const id = record._id;
  const runs = countRuns((live?.steps ?? record.steps).filter((step) => isOnPath(step, path)));
  if (wanted === undefined)
    for await (const { steps } of slicesWithin(executions, record))
      addRuns(runs, countRuns(steps.filter(({ path: inItems }) => inItems !== undefined)));
  const nodes = nodesOf(record).map((node) => ({ ...node, runs: runs.get(node.id) ?? noRuns() }));
  return {
    execution_id: id,
    status: live?.status ?? record.status,
    first: (record.start_from_agent_id ?? record.agentflow.initialAgent).split('/')[0] ?? '',
    nodes,
    edges: edgesOf(record),
  };
}

function addRuns(runs: Map<string, Record<State, number>>, more: typeof runs): void {
  for (const [node, added] of more) {
    const counts = runs.get(node) ?? noRuns();
    for (const [state, count] of Object.entries(added)) counts[state as State] += count;
    runs.set(node, counts);
  }
}

function noRuns(): Record<State, number> {
  return { running: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 };
}

function nodesOf({ agentflow, flow }: ExecutionDocument): Omit<Graph['nodes'][number], 'runs'>[] {
  return [
    ...agentflow.agents.map(({ _id, title }) => ({ id: _id, kind: 'agent', title })),
    ...(flow.steps ?? []).map(({ _id, type, title }) => ({ id: _id, kind: type, title: title || _id })),
  ];
}

function edgesOf({ agentflow, flow }: ExecutionDocument): Graph['edges'] {
  const ofAgents = agentflow.agents.flatMap(({ _id, next_agent }) =>
    next_agent === null ? [] : [{ from: _id, to: next_agent, kind: 'next' as const, label: '' }],
  );
  const ofSteps = (flow.steps ?? []).flatMap((step) => [
    ...successorsOf(step).flatMap(({ name, to }) =>
      to === null ? [] : [{ from: step._id, to, kind: 'next' as const, label: name }],
    ),
    ...partsOf(step).map(({ name, first }) => ({ from: step._id, to: first, kind: 'part' as const, label: name })),
  ]);
  return [...ofAgents, ...ofSteps];
}

/** The runs of each node. An agent has one on each path, with the state of the step that it did last there. */
function countRuns(steps: readonly StepRecord[]): Map<string, Record<State, number>> {
  const last = new Map<string, { node: string; status: State }>();
  for (const step of steps) {
    const node = nodeOf(step);
    // The steps of a `flow` step belong to its own record, which begins before them.
    if (step.agent_id === '' && !isOfFlowStep(step)) continue;
    last.set(`${step.path ?? ''}\n${node}`, { node, status: step.status });
  }
  const runs = new Map<string, Record<State, number>>();
  for (const { node, status } of last.values()) {
    const counts = runs.get(node) ?? noRuns();
    counts[status] += 1;
    runs.set(node, counts);
  }
  return runs;
}
