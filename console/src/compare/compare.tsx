import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call, type Execution } from '../api.js';
import { Difference } from '../difference.js';
import { RunLink } from '../links.js';
import { Badge, Elapsed, Loaded, Page, ScrollTable, Section } from '../parts.js';
import { Time } from '../time.js';
import { pollInterval } from '../news.js';
import { pathText } from '../run/flow-path.js';
import { failureOf, isOver, stateOf } from '../states.js';
import { alignedOutputs, isSame, type Side } from './align.js';
import { StepPairs } from './step-pairs.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';

const route = getRouteApi('/runs/compare');

/** Shows two runs side by side. Their ids are in the address. */
export function CompareRuns() {
  const { left, right } = route.useSearch();
  return (
    <Page title="Compare runs">
      {left === undefined || right === undefined ? (
        <p className={messageStyles.empty}>
          Select two runs in the list of <Link to="/runs">runs</Link> and choose <em>Compare two</em>, or choose{' '}
          <em>Compare with</em> on the page of a run.
        </p>
      ) : (
        <Compared left={left} right={right} />
      )}
    </Page>
  );
}

function useSide(id: string) {
  const params = { execution_id: id };
  return useQuery({
    queryKey: ['run', id, 'compared'],
    queryFn: async (): Promise<Side> => {
      const [run, steps] = await Promise.all([
        call('get', '/execute_flow/{execution_id}', { params }),
        call('get', '/execute_flow/{execution_id}/monitoring', { params }),
      ]);
      return { run, steps };
    },
    refetchInterval: (query) => (query.state.data && isOver(query.state.data.run) ? false : pollInterval(query)),
  });
}

function Compared({ left: leftId, right: rightId }: { left: string; right: string }) {
  const [left, right] = [useSide(leftId), useSide(rightId)];
  return (
    <Loaded query={left}>
      {(first) => <Loaded query={right}>{(second) => <Sides left={first} right={second} />}</Loaded>}
    </Loaded>
  );
}

function Sides({ left, right }: { left: Side; right: Side }) {
  const inputsOf = ({ run: { goal, input_variables, runtime_inputs } }: Side) => ({
    goal,
    ...input_variables,
    ...runtime_inputs,
  });
  const resultOf = ({ run: { conclusion } }: Side) => conclusion?.output ?? conclusion?.conclusion ?? null;
  return (
    <>
      <Overview left={left} right={right} />
      <Section title="Inputs">
        <Difference label="Difference of the inputs" from={inputsOf(left)} to={inputsOf(right)} />
      </Section>
      <Section title="Results">
        <Difference label="Difference of the results" from={resultOf(left)} to={resultOf(right)} />
      </Section>
      <Outputs left={left} right={right} />
      <Section title="Steps">
        <StepPairs left={left} right={right} />
      </Section>
    </>
  );
}

interface Row {
  name: string;
  /** What is shown of a run. */
  show: (side: Side) => ReactNode;
  /** What is compared. Without it, the values are expected to differ. */
  value?: (side: Side) => unknown;
}

const rows: readonly Row[] = [
  { name: 'Goal', show: ({ run }) => <bdi>{run.goal}</bdi>, value: ({ run }) => run.goal },
  { name: 'State', show: ({ run }) => <Badge state={stateOf(run)} />, value: ({ run }) => stateOf(run) },
  {
    name: 'Failure',
    show: ({ run }) => <bdi>{failureOf(run)?.message}</bdi>,
    value: ({ run }) => failureOf(run)?.message,
  },
  { name: 'Agentflow', show: ({ run }) => <bdi>{run.agentflow.name}</bdi>, value: ({ run }) => run.agentflow_id },
  { name: 'Release', show: ({ run }) => releaseText(run), value: ({ run }) => releaseText(run) },
  {
    name: 'Started by',
    show: ({ run }) => <bdi>{run.executed_by.name}</bdi>,
    value: ({ run }) => run.executed_by.name,
  },
  { name: 'Created', show: ({ run }) => <Time at={run.created_at} isExact /> },
  {
    name: 'Duration',
    show: ({ run, steps }) =>
      run.status !== 'ready' && <Elapsed from={steps.steps[0]?.started_at ?? run.created_at} to={run.end_time} />,
  },
  { name: 'Credits', show: ({ steps }) => steps.credits, value: ({ steps }) => steps.credits },
  { name: 'Tokens', show: ({ run }) => tokensOf(run), value: ({ run }) => tokensOf(run) },
  { name: 'Steps', show: ({ steps }) => steps.steps.length, value: ({ steps }) => steps.steps.length },
];

function Overview({ left, right }: { left: Side; right: Side }) {
  const hasFailure = [left, right].some(({ run }) => failureOf(run));
  const shown = rows.filter(({ name }) => name !== 'Failure' || hasFailure);
  return (
    <ScrollTable label="Overview" head={['Fact', 'First run', 'Second run']}>
      <tr>
        <th scope="row">Run</th>
        <td>
          <RunLink id={left.run.execution_id}>Open the first run</RunLink>
        </td>
        <td>
          <RunLink id={right.run.execution_id}>Open the second run</RunLink>
        </td>
      </tr>
      {shown.map(({ name, show, value }) => (
        <tr key={name}>
          <th scope="row">
            {name} {value && !isSame(value(left), value(right)) && <Differs />}
          </th>
          <td>{show(left)}</td>
          <td>{show(right)}</td>
        </tr>
      ))}
    </ScrollTable>
  );
}

export const Differs = () => <strong className={textStyles.bad}>differs</strong>;

const releaseText = ({ agentflow_version: version }: Execution) => (version === null ? 'Draft' : `Version ${version}`);

function tokensOf({ agents_output }: Execution): string {
  const sum = (kind: 'input_tokens' | 'output_tokens') =>
    agents_output.reduce((total, { usage }) => total + usage[kind], 0);
  return `${sum('input_tokens')} input, ${sum('output_tokens')} output`;
}

/** Shows what each agent has answered, where the answers differ. */
function Outputs({ left, right }: { left: Side; right: Side }) {
  const pairs = alignedOutputs(left.run.agents_output, right.run.agents_output);
  const different = pairs.filter((pair) => !isSame(pair.left, pair.right));
  const same = pairs.length - different.length;
  return (
    <Section title="Outputs of the agents">
      {pairs.length === 0 && <p className={messageStyles.empty}>No agent has answered yet.</p>}
      {same > 0 && (
        <p className={textStyles.soft}>
          {same} of {pairs.length} are the same.
        </p>
      )}
      {different.map(({ id, title, path, ...values }) => (
        <details key={id} open={different.length <= 3}>
          <summary>
            <bdi>{title}</bdi> <span className={textStyles.soft}>{pathText(path, left.run)}</span> <Differs />
          </summary>
          <Difference label={`Outputs of ${title} ${id}`} from={values.left ?? null} to={values.right ?? null} />
        </details>
      ))}
    </Section>
  );
}
