import type { FlowPart, FlowStep } from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import { partsOf } from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import type { AgentOutput, AgentPlan } from '../../../workflows/agentflow-execution/messages.js';
import { inPath } from '../../../workflows/agentflow-execution/paths.js';
import type { StepRecord } from '../../../workflows/agentflow-execution/step-record.js';
import type { ExecutionDocument } from './record.js';
import { isOfFlowStep, nodeOf, placeOf } from './step-place.js';

/** What a rerun reads of the run that it repeats. */
export type EarlierRun = Pick<
  ExecutionDocument,
  'plan' | 'flow' | 'agentflow' | 'start_from_agent_id' | 'agents_output' | 'steps' | 'execution_context'
>;

/** A node of a flow. An `action` step, and a `branch` that a model decides, is both. */
export interface FlowNode {
  agent?: AgentPlan | undefined;
  step?: FlowStep | undefined;
}

/** How a node has ended on a path. */
export interface NodeEnd {
  /** Whether the node is an agent, whose output is in `agents_output`. */
  isAgent: boolean;
  /** Absent if it was too long for the record of an earlier version. */
  output?: unknown;
}

/** The nodes of the flow and their last ends, by place. After a failover, only those of the second pass. */
export function readEarlierRun(run: EarlierRun) {
  const { failover } = run.execution_context as { failover?: { at: number } | null };
  const steps = failover ? run.steps.filter(({ step_id }) => step_id.startsWith('failover/')) : run.steps;
  const outputs = failover
    ? run.agents_output.filter(({ started_at }) => started_at >= failover.at)
    : run.agents_output;
  const agents = new Map(run.plan.map((agent) => [agent._id, agent]));
  const flowSteps = new Map((run.flow.steps ?? []).map((step) => [step._id, step]));
  const outputAt = new Map(outputs.map((output) => [inPath(output.path ?? '', output.agent_id), output]));
  const recordAt = new Map(
    steps.filter(isOfFlowStep).map((record) => [inPath(record.path ?? '', nodeOf(record)), record]),
  );
  const reached = new Set([...outputAt.keys(), ...steps.map((record) => inPath(record.path ?? '', nodeOf(record)))]);
  // A rerun has not reached its own start before it begins.
  const parts = partsReached([...reached, run.start_from_agent_id ?? '']);

  const nodeAt = (id: string): FlowNode | undefined => {
    const [agent, step] = [agents.get(id), flowSteps.get(id)];
    return agent || step ? { agent, step } : undefined;
  };

  const endAt = (path: string, id: string): NodeEnd | undefined => {
    const { agent, step } = nodeAt(id) ?? {};
    const place = inPath(path, id);
    if (agent && !agent.step) {
      const output = outputAt.get(place);
      return output && { isAgent: true, output: 'value' in output ? output.value : output.output };
    }
    const record = recordAt.get(place);
    if (record?.status !== 'completed' || record.kind !== step?.type) return undefined;
    return { isAgent: false, ...('output' in record && { output: record.output }) };
  };

  /** The parts of a step that the run has begun. */
  const partsBegun = (place: string, step: FlowStep): FlowPart[] => {
    const names = parts.get(place) ?? new Set();
    if (step.type === 'parallel') return step.branches.filter(({ name }) => names.has(name));
    const [part] = partsOf(step);
    if (!part) return [];
    return [...names].filter((name) => /^\d+$/.test(name)).map((name) => ({ ...part, name }));
  };

  /** Which lists of items an activity has read, by the place of their `map`. */
  const divided = new Map(
    steps
      .filter(({ kind, status }) => kind === 'divideItems' && status === 'completed')
      .map((record) => [inPath(record.path ?? '', nodeOf(record)), dividedBy(record)] as const),
  );
  const placeInRun = (place: string) => (failover ? `failover/${place}` : place);

  return { steps, outputs, reached, nodeAt, endAt, partsBegun, divided, placeInRun };
}

/** Whether runs of their own work on the items, and the earlier run that has read them, unless it is this one. */
function dividedBy(record: StepRecord): { isSliced: boolean; kept_from: string | undefined } {
  return { isSliced: !('output' in record), kept_from: record.kept_from };
}

/** The names of the parts by the place of their step. A path consists of pairs: a step, and one of its parts. */
function partsReached(places: readonly string[]): Map<string, Set<string>> {
  const parts = new Map<string, Set<string>>();
  for (const place of places) {
    const names = place.split('/');
    for (let at = 1; at < names.length - 1; at += 2) {
      const owner = names.slice(0, at).join('/');
      const known = parts.get(owner) ?? new Set();
      parts.set(owner, known.add(names[at] ?? ''));
    }
  }
  return parts;
}

/** Where the flow continues after a node that has ended. */
export function followerOf({ agent, step }: FlowNode, { output }: NodeEnd): string | null {
  if (step?.type === 'branch') {
    const name = typeof output === 'object' && output !== null && 'case' in output ? output.case : undefined;
    const chosen = step.cases.find((each) => each.name === name);
    return chosen ? chosen.next : step.otherwise;
  }
  if (step?.type === 'ask') return output === null && step.on_timeout !== 'fail' ? step.on_timeout : step.next;
  return step ? step.next : (agent?.next_agent ?? null);
}

/** The output or the record as a rerun keeps it. */
export function keptFrom<T extends AgentOutput | StepRecord>(kept: T, sourceId: string): T {
  return { ...kept, kept_from: kept.kept_from ?? sourceId };
}

/** The record of a second pass has the id that it would have in the first. */
export function inFirstPass(record: StepRecord): StepRecord {
  return { ...record, step_id: inPath(record.path ?? '', placeOf(record)) };
}
