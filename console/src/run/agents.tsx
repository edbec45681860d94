import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call, type Execution, type Step } from '../api.js';
import { LazyGraph } from '../graph/lazy-graph.js';
import { groupBy } from '../group-by.js';
import { Badge, durationText, Section } from '../parts.js';
import { quantity } from '../quantity.js';
import { isOver } from '../states.js';
import { pollInterval } from '../news.js';
import { dividedMapsIn, withItems } from './divided-maps.js';
import { flowStatesOf, isStep, type FlowNode } from './flow-states.js';
import textStyles from '../styles/text.module.css';
import styles from './agents.module.css';

type Output = Execution['agents_output'][number];

/** What an agent has taken, in all parts of the flow together. */
function textsOf(outputs: readonly Output[]): string[] {
  const [first] = outputs;
  if (!first) return [];
  const sum = (of: (output: Output) => number) => outputs.reduce((total, output) => total + of(output), 0);
  return [
    ...(outputs.length > 1 ? [quantity(outputs.length, 'answer')] : []),
    durationText(sum(({ started_at, ended_at }) => ended_at - started_at)),
    `${sum(({ usage }) => usage.input_tokens)} input tokens`,
    `${sum(({ usage }) => usage.output_tokens)} output tokens`,
    ...(first.kept_from === undefined ? [] : ['reused from the previous run']),
  ];
}

/** The states of the agents and steps, also in the items of divided maps. */
function useFlowStates(run: Execution, steps: readonly Step[]) {
  const states = useMemo(() => flowStatesOf(run, steps), [run, steps]);
  const divided = useMemo(() => dividedMapsIn(steps), [steps]);
  const { execution_id, end_time } = run;
  const { data: graph } = useQuery({
    queryKey: ['run', execution_id, 'graph', end_time],
    queryFn: () => call('get', '/execute_flow/{execution_id}/graph', { params: { execution_id } }),
    enabled: divided.size > 0,
    refetchInterval: (query) => (isOver(run) ? false : pollInterval(query)),
  });
  return useMemo(() => (graph ? withItems(states, divided, graph) : states), [states, divided, graph]);
}

export function Agents({ run, steps }: { run: Execution; steps: readonly Step[] }) {
  const { nodes, edges, state: states, parts } = useFlowStates(run, steps);
  const hasSteps = nodes.some(isStep);
  const outputs = groupBy(run.agents_output, ({ agent_id }) => agent_id);
  const title = hasSteps ? 'Agents and steps' : 'Agents';
  const titleOf = (node: FlowNode) => node.title || node._id;
  const detailOf = (node: FlowNode) => joined(isStep(node) ? [node.type, parts[node._id] ?? ''] : [node.role]);
  return (
    <Section title={title}>
      {nodes.length > 1 && (
        <LazyGraph
          label={`Graph of the ${title.toLowerCase()}. The list below contains the same information.`}
          nodes={nodes.map((node) => ({ id: node._id, title: titleOf(node), detail: detailOf(node) }))}
          edges={edges}
          state={states}
          isFlow
        />
      )}
      <ol className={styles.agents}>
        {nodes.map((node) => {
          const state = states[node._id] ?? 'not started';
          const isCurrent = !isOver(run) && /^(running|waiting|paused)$/.test(state);
          return (
            <li key={node._id} aria-current={isCurrent ? 'step' : undefined}>
              <p>
                <strong>
                  <bdi>{titleOf(node)}</bdi>
                </strong>{' '}
                <Badge state={state} />
              </p>
              <p className={textStyles.soft}>
                {joined([
                  detailOf(node),
                  ...(isStep(node) ? [] : [node.llm.model, ...textsOf(outputs.get(node._id) ?? [])]),
                ])}
              </p>
            </li>
          );
        })}
      </ol>
    </Section>
  );
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join(', ');
