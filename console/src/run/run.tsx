import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { call, type Execution, type Monitoring, type Step } from '../api.js';
import { InboxCard } from '../inbox/card.js';
import { readInbox } from '../inbox/read-inbox.js';
import { AgentflowLink, LifecycleLink, RunLink, ScheduleLink } from '../links.js';
import { Data, Elapsed, Problem, Page, Section, Loaded, StateLine } from '../parts.js';
import { Time } from '../time.js';
import { useMay } from '../session.js';
import { isOver, stateOf, waitingOf, waitsForTurn } from '../states.js';
import { Actions } from './actions.js';
import { Agents } from './agents.js';
import { pollInterval } from '../news.js';
import { Events, StepProgress } from './events.js';
import { Failure } from './failure.js';
import { useEvents } from './use-events.js';
import { StepDrawer } from './step-drawer.js';
import { Waterfall } from './waterfall.js';
import { Facts } from '../facts.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';
import markdownStyles from './markdown.module.css';

const Markdown = lazy(() => import('./markdown.js').then(({ Markdown: component }) => ({ default: component })));
const route = getRouteApi('/runs/$runId');
/** Attempts of an open step send no events, so the page polls. */
const openStepMs = 10_000;

/** Loads the run and its steps, and refreshes them until the run is over and its last step has ended. */
function useRun(id: string) {
  const params = { execution_id: id };
  const monitoring = useQuery({
    queryKey: ['run', id, 'steps'],
    queryFn: () => call('get', '/execute_flow/{execution_id}/monitoring', { params }),
    refetchInterval: (query) => (isSettled(query.state.data) ? false : openStepMs),
  });
  const run = useQuery({
    queryKey: ['run', id],
    queryFn: () => call('get', '/execute_flow/{execution_id}', { params }),
    refetchInterval: (query) => (query.state.data && isOver(query.state.data) ? false : pollInterval(query)),
  });
  const reload = () => Promise.all([run.refetch(), monitoring.refetch()]);
  return { run: run.data, steps: monitoring.data, error: run.error, stepsError: monitoring.error, reload };
}

function isSettled(monitoring: Monitoring | undefined): boolean {
  if (monitoring === undefined || !/^(completed|failed)$/.test(monitoring.status)) return false;
  return !monitoring.steps.some(({ status }) => status === 'running');
}

export function Run() {
  const { runId: id } = route.useParams();
  const { run, steps, error, stepsError, reload } = useRun(id);
  const events = useEvents(id);
  const [openStep, setOpenStep] = useState<string>();
  const at = steps?.steps.findIndex(({ step_id }) => step_id === openStep) ?? -1;
  const stepInDrawer = steps?.steps[at];
  return (
    <Page title={run ? run.goal || 'Run without a goal' : 'Run'}>
      <Loaded query={{ data: run, error }}>
        {(loaded) => (
          <>
            <div className={controlStyles.toolbar}>
              <StateLine state={stateOf(loaded)} />
              <Actions run={loaded} steps={steps?.steps ?? []} onDone={reload} />
            </div>
            <Failure run={loaded} steps={steps?.steps ?? []} onOpen={({ step_id }) => setOpenStep(step_id)} />
            <About run={loaded} steps={steps} />
            <RunDetails run={loaded} steps={steps} />
            <PendingDecisions run={loaded} onDone={reload} />
            <Outcome run={loaded} />
            <StepProgress {...events} />
            <Agents run={loaded} steps={steps?.steps ?? []} />
            <Section title="Steps">
              <Problem error={stepsError} />
              {steps && (
                <Waterfall
                  run={loaded}
                  // What a rerun keeps ran at another time.
                  steps={steps.steps.filter(({ kept_from }) => kept_from === undefined)}
                  onOpen={(step: Step) => setOpenStep(step.step_id)}
                />
              )}
            </Section>
            <Files run={loaded} />
            <Section title="Input">
              <Data value={{ ...loaded.input_variables, ...loaded.runtime_inputs }} label="Input values" />
            </Section>
            <Events {...events} namesById={namesIn(loaded, steps)} />
            {stepInDrawer && (
              <StepDrawer run={loaded} step={stepInDrawer} number={at + 1} onClose={() => setOpenStep(undefined)} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function About({ run, steps }: { run: Execution; steps: Monitoring | undefined }) {
  const { agentflow_id, agentflow, agentflow_version, created_at, end_time, executed_by, schedule } = run;
  const { parent_execution_id, execution_context, agents_output } = run;
  const tokens = (kind: 'input_tokens' | 'output_tokens') =>
    agents_output.reduce((total, { usage }) => total + usage[kind], 0);
  const { rerun_of, rerun_reason } = execution_context;
  return (
    <Facts
      of={{
        Agentflow: (
          <>
            <AgentflowLink id={agentflow_id}>
              <bdi>{agentflow.name}</bdi>
            </AgentflowLink>
            {agentflow_version === null ? ', draft' : `, version ${agentflow_version}`}
          </>
        ),
        Created: <Time at={created_at} />,
        Ended: end_time !== null && <Time at={end_time} />,
        Duration: run.status !== 'ready' && <Elapsed from={steps?.steps[0]?.started_at ?? created_at} to={end_time} />,
        'Started by': (
          <>
            <bdi>{executed_by.name}</bdi> ({executed_by.type})
          </>
        ),
        Schedule: typeof schedule === 'string' && <ScheduleLink id={schedule} />,
        'Rerun of': typeof rerun_of === 'string' && (
          <>
            <RunLink id={rerun_of} />
            {typeof rerun_reason === 'string' && (
              <>
                : <bdi>{rerun_reason}</bdi>
              </>
            )}
          </>
        ),
        Tokens: `${tokens('input_tokens')} input, ${tokens('output_tokens')} output`,
        Credits: steps?.credits,
        'Parent run': parent_execution_id !== null && <RunLink id={parent_execution_id} />,
      }}
    />
  );
}

/** The names of agents and steps by their ids, which events have. */
function namesIn({ agentflow: { agents, steps = [] } }: Execution, monitoring: Monitoring | undefined) {
  return new Map([
    ...[...agents, ...steps].map(({ _id, title }): [string, string] => [_id, title || _id]),
    ...(monitoring?.steps ?? []).map(({ step_id, name }): [string, string] => [step_id, name]),
  ]);
}

/** What support asks for. */
function RunDetails({ run, steps }: { run: Execution; steps: Monitoring | undefined }) {
  const { lifecycle_id: lifecycle } = run.execution_context;
  return (
    <details>
      <summary>Details</summary>
      <Facts
        of={{
          Goal: run.goal !== '' && <bdi>{run.goal}</bdi>,
          'Execution id': <code>{run.execution_id}</code>,
          'Call that started it': typeof lifecycle === 'string' && <LifecycleLink id={lifecycle} />,
          Workflow: steps?.temporal_ui_url && (
            <a href={steps.temporal_ui_url} rel="noreferrer">
              Open in the Temporal UI
            </a>
          ),
        }}
      />
    </details>
  );
}

/** Shows the inbox items that the run waits for, or that it waits for its turn. */
function PendingDecisions({ run, onDone }: { run: Execution; onDone: () => Promise<unknown> }) {
  const may = useMay();
  const waiting = isOver(run) ? undefined : waitingOf(run);
  const isHeld = waiting !== undefined && !['step', 'turn', 'event'].includes(waiting.kind);
  const { data, error, refetch } = useQuery({
    queryKey: ['inbox', 'of', run.execution_id, waiting?.agent_id, waiting?.approval_id],
    queryFn: readInbox,
    enabled: isHeld && may('get /inbox'),
    refetchInterval: pollInterval,
  });
  if (waiting?.kind === 'turn')
    return <p className={messageStyles.note}>{waitsForTurn(waiting)}: other runs of the agentflow go on first.</p>;
  if (!isHeld) return null;
  const items = data?.filter(({ execution_id }) => execution_id === run.execution_id) ?? [];
  return (
    <Section title="Waiting for a decision">
      <Problem error={error} />
      {items.map((item) => (
        <InboxCard key={item._id} item={item} isOnRun onDone={() => Promise.all([refetch(), onDone()])} />
      ))}
    </Section>
  );
}

function Outcome({ run: { conclusion } }: { run: Execution }) {
  if (!conclusion) return null;
  return (
    <Section title="Conclusion">
      {conclusion.output === undefined ? (
        <div className={markdownStyles.rendered}>
          <Suspense fallback={<p>{conclusion.conclusion}</p>}>
            <Markdown text={conclusion.conclusion} />
          </Suspense>
        </div>
      ) : (
        <Data value={conclusion.output} label="Output of the run" />
      )}
      {conclusion.links.length > 0 && <p className={textStyles.soft}>Links: {conclusion.links.join(', ')}</p>}
    </Section>
  );
}

function Files({ run: { files } }: { run: Execution }) {
  if (files.length === 0) return null;
  return (
    <Section title="Files">
      <ul>
        {files.map(({ name, mime_type, location }) => (
          <li key={location}>
            <bdi>{name}</bdi> <span className={textStyles.soft}>{mime_type}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
