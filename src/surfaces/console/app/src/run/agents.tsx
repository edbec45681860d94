import type { Execution, Step } from '../api.js';
import { LazyGraph } from '../graph/lazy-graph.js';
import { Badge, durationText, Section } from '../parts.js';
import { isOver, stateOf, waitingOf } from '../states.js';

type Agent = Execution['agentflow']['agents'][number];

/** Returns the agents in the order of the plan. */
export function inOrder({ agentflow: { agents, initialAgent } }: Execution): Agent[] {
  const byId = new Map(agents.map((agent) => [agent._id, agent]));
  const ordered: Agent[] = [];
  for (let at: string | null = initialAgent; at !== null;) {
    const agent: Agent | undefined = byId.get(at);
    if (!agent || !byId.delete(at)) break;
    ordered.push(agent);
    at = agent.next_agent;
  }
  return [...ordered, ...byId.values()];
}

const textsOf = ({ started_at, ended_at, usage, kept_from }: Execution['agents_output'][number]): string[] => [
  durationText(ended_at - started_at),
  `${usage.input_tokens} input tokens`,
  `${usage.output_tokens} output tokens`,
  ...(kept_from === undefined ? [] : ['reused from the previous run']),
];

export function Agents({ run, steps }: { run: Execution; steps: readonly Step[] }) {
  const agents = inOrder(run);
  const outputs = new Map(run.agents_output.map((output) => [output.agent_id, output]));
  const stateOfAgent = (id: string) => {
    const agentSteps = steps.filter(({ agent_id }) => agent_id === id);
    if (outputs.has(id)) return 'completed';
    if (agentSteps.length === 0 && waitingOf(run)?.agent_id !== id) return 'not started';
    // An agent that has started and has no output has the state of the run.
    return agentSteps.find(({ status }) => status === 'running' || status === 'waiting')?.status ?? stateOf(run);
  };
  const states = Object.fromEntries(agents.map(({ _id }) => [_id, stateOfAgent(_id)]));
  return (
    <Section title="Agents">
      {agents.length > 1 && (
        <LazyGraph
          label="Graph of the agents. The list below contains the same information."
          nodes={agents.map(({ _id, title, role }) => ({ id: _id, title, detail: role }))}
          edges={agents.flatMap(({ _id, next_agent }) => (next_agent === null ? [] : [{ from: _id, to: next_agent }]))}
          state={states}
        />
      )}
      <ol className="agents">
        {agents.map(({ _id, title, role, llm }) => {
          const output = outputs.get(_id);
          const state = states[_id] ?? 'not started';
          return (
            <li
              key={_id}
              aria-current={!isOver(run) && state !== 'completed' && state !== 'not started' ? 'step' : undefined}
            >
              <p>
                <strong>
                  <bdi>{title}</bdi>
                </strong>{' '}
                <Badge state={state} />
              </p>
              <p className="soft">
                {[role, llm.model, ...(output ? textsOf(output) : [])].filter((text) => text !== '').join(', ')}
              </p>
            </li>
          );
        })}
      </ol>
    </Section>
  );
}
