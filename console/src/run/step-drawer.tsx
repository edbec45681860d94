import { useQuery } from '@tanstack/react-query';
import { call, inWords, type Execution, type Step } from '../api.js';
import { Badge, Data, Elapsed, Problem, Window, Loading } from '../parts.js';
import { Time } from '../time.js';
import { pathText, placeOf } from './flow-path.js';
import { Exchange } from './step-exchange.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';

const openStepMs = 3000;

interface StepDrawerOptions {
  run: Execution;
  step: Step;
  /** The position of the step in the run, starting at 1. */
  number: number;
  onClose: () => void;
}

/** Shows one step with its attempts, and what each sent and received. The API redacts it. */
export function StepDrawer({ run, step, number, onClose }: StepDrawerOptions) {
  const { execution_id } = run;
  const { data, error } = useQuery({
    queryKey: ['run', execution_id, 'step', number],
    queryFn: () => call('get', '/execute_flow/{execution_id}/steps/{number}', { params: { execution_id, number } }),
    refetchInterval: step.status === 'running' ? openStepMs : false,
  });
  const exchanges = data?.exchanges ?? [];
  const last = exchanges.at(-1);
  return (
    <Window title={step.name} isDrawer onClose={onClose}>
      <p>
        <Badge state={step.status} /> {inWords(step.kind)}, <code>{step.step_id}</code>
      </p>
      {step.path !== undefined && (
        <p className={textStyles.soft}>
          <bdi>{pathText(step.path, run)}</bdi>
        </p>
      )}
      {step.error !== null && <p className={messageStyles.problem}>{step.error}</p>}
      <Attempts step={step} />
      <Problem error={error} />
      {!data && !error && <Loading />}
      {exchanges.slice(0, -1).map((exchange) => (
        <details key={exchange.started_at}>
          <summary>
            Attempt {exchange.attempt}, <Time at={exchange.started_at} isExact />
            {exchange.response && `: ${exchange.response.status}`}
          </summary>
          <Exchange exchange={exchange} />
        </details>
      ))}
      {last && <Exchange exchange={last} />}
      {data && !last && <StoredDetails run={run} step={step} />}
    </Window>
  );
}

function Attempts({ step }: { step: Step }) {
  const attempts = step.attempt_details ?? [{ attempt: step.attempts, ...step }];
  return (
    <>
      <h3>Attempts</h3>
      <ol>
        {attempts.map(({ attempt, started_at, ended_at, error }) => (
          <li key={attempt} value={attempt}>
            <Time at={started_at} isExact /> to {ended_at === null ? 'now' : <Time at={ended_at} isExact />},{' '}
            <Elapsed from={started_at} to={ended_at} />
            {error !== null && <Data value={error} label={`Error of attempt ${attempt}`} />}
          </li>
        ))}
      </ol>
    </>
  );
}

/** The kinds of steps that send nothing. */
const withoutRequests: ReadonlySet<string> = new Set(['set', 'branch', 'parallel', 'map', 'loop', 'wait']);

/** Shows what the run itself has of a step whose details are not stored. */
function StoredDetails({ run, step }: { run: Execution; step: Step }) {
  const { agent_id, action_id, path, kind } = step;
  const output = run.agents_output.find((each) => each.agent_id === agent_id && each.path === path);
  const action = output?.actions.find((each) => each.action_id === action_id);
  const proposed = run.previews[placeOf(agent_id, path)]?.proposed;
  const ofAgent = action ? action.output : action_id === null ? output?.output : undefined;
  const known: [string, unknown][] = [
    ['Proposed', proposed],
    ['Output', step.output ?? ofAgent],
  ];
  return (
    <>
      {!withoutRequests.has(kind) && (
        <p className={messageStyles.note}>
          The requests of this step are not available. They are kept for 30 days, if they could be stored.
        </p>
      )}
      {known.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <h3>{name}</h3>
            <Data value={value} label={name} />
          </div>
        ),
      )}
    </>
  );
}
