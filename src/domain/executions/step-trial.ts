import {
  namesInPart,
  partsOf,
  successorsOf,
  type FlowStep as StepPlan,
} from '../../../workflows/agentflow-execution/flow/flow-steps.js';
import type { AgentflowExecutionInput } from '../../../workflows/agentflow-execution/messages.js';
import type { AgentflowDocument } from '../agentflows/record.js';
import type { FlowStep } from '../agentflows/record/steps.js';

/** What stands for everything that would have run before a step that is tried alone. */
interface GivenValues {
  outputs: Record<string, unknown>;
  names: Record<string, unknown>;
}

type Flow = Pick<AgentflowDocument, 'agents' | 'steps' | 'initialAgent'>;

/** The flow that consists of one agent or step, with the nodes of its parts. It has no inputs of its own that a run could lack. */
export function flowOfOne(agentflow: AgentflowDocument, id: string): AgentflowDocument {
  const { agents, steps = [], input_schema: _inputs, output_schema, ...fields } = agentflow;
  const tried = steps.find(({ _id }) => _id === id);
  const kept = new Set([id, ...nodesFrom(agentflow, tried ? firstsOf(tried) : [])]);
  // An agent that ends the flow answers by the schema of the flow.
  const endsFlow =
    agents.some(({ _id, next_agent }) => _id === id && next_agent === null) && isInMainPart(agentflow, id);
  return {
    ...fields,
    initialAgent: id,
    failover_goal: null,
    agents: agents
      .filter(({ _id }) => kept.has(_id))
      .map((agent) => (agent._id === id ? { ...agent, next_agent: null } : agent)),
    steps: steps.filter(({ _id }) => kept.has(_id)).map((step) => (step === tried ? withoutFollowers(step) : step)),
    ...(endsFlow && output_schema && { output_schema }),
  };
}

/** What the workflow gets of the values. */
export function givenTo({ agents }: Flow, { outputs, names }: GivenValues): AgentflowExecutionInput['given'] {
  const titles = new Map(agents.map(({ _id, title }) => [_id, title]));
  const ofAgents = Object.keys(outputs).flatMap((agent_id) => {
    const title = titles.get(agent_id);
    return title === undefined ? [] : [{ agent_id, title }];
  });
  return { outputs, names, agents: ofAgents };
}

/** Which values belong to nothing in the flow. */
export function valueProblems(flow: Flow, id: string, { outputs, names }: GivenValues): string[] {
  const { agents, steps = [] } = flow;
  const ids = new Set([...agents, ...steps].map(({ _id }) => _id));
  const known = namesAt(flow, id);
  const expected = known.length === 0 ? 'it is in no part that has names' : `its part has ${known.join(', ')}`;
  return [
    ...Object.keys(outputs)
      .filter((each) => !ids.has(each))
      .map((each) => `outputs.${each}: the agentflow has no agent or step with this id`),
    ...Object.keys(names)
      .filter((each) => !known.includes(each))
      .map((each) => `names.${each}: ${JSON.stringify(id)} does not know this name; ${expected}`),
  ];
}

/** The names that the parts around a node add. */
function namesAt(flow: Flow, id: string): string[] {
  const around = (flow.steps ?? []).flatMap((step) =>
    'first' in step && nodesFrom(flow, [step.first]).has(id) ? namesInPart(step) : [],
  );
  return [...new Set(around)];
}

function isInMainPart(flow: Flow, id: string): boolean {
  return nodesFrom(flow, [flow.initialAgent], false).has(id);
}

/** The agents and steps that can follow these, and those of their parts. */
export function nodesFrom(
  {
    agents,
    steps = [],
  }: { agents: readonly { _id: string; next_agent: string | null }[]; steps?: readonly StepPlan[] | undefined },
  firsts: readonly string[],
  withParts = true,
): Set<string> {
  const followers = new Map<string, readonly (string | null)[]>([
    ...agents.map(({ _id, next_agent }) => [_id, [next_agent]] as const),
    ...steps.map(
      (step) => [step._id, [...successorsOf(step).map(({ to }) => to), ...(withParts ? firstsOf(step) : [])]] as const,
    ),
  ]);
  const found = new Set<string>();
  const open: (string | null)[] = [...firsts];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === null || found.has(id)) continue;
    found.add(id);
    open.push(...(followers.get(id) ?? []));
  }
  return found;
}

function firstsOf(step: StepPlan): string[] {
  return partsOf(step).map(({ first }) => first);
}

function withoutFollowers(step: FlowStep): FlowStep {
  if (step.type === 'branch')
    return { ...step, cases: step.cases.map((each) => ({ ...each, next: null })), otherwise: null };
  if (step.type === 'ask') return { ...step, next: null, on_timeout: step.on_timeout === 'fail' ? 'fail' : null };
  return { ...step, next: null };
}
