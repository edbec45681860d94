import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { call, type Execution, type Monitoring, type Step } from '../api.js';
import { InboxCard } from '../inbox/card.js';
import { AgentflowLink, LifecycleLink, RunLink, ScheduleLink } from '../links.js';
import { Badge, Data, Elapsed, Problem, Time } from '../parts.js';
import { useMay } from '../session.js';
import { failureOf, isOver, stateOf, waitingOf } from '../states.js';
import { useTitle } from '../use-title.js';
import { Actions } from './actions.js';
import { Agents } from './agents.js';
import { pollInterval } from '../news.js';
import { Events, StepProgress } from './events.js';
import { useEvents } from './use-events.js';
import { StepDrawer } from './step-drawer.js';
import { Waterfall } from './waterfall.js';

const Markdown = lazy(() => import('./markdown.js').then(({ Markdown: component }) => ({ default: component })));
const route = getRouteApi('/projects/$projectId/runs/$runId');
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
  const { runId } = route.useParams();
  return <RunPage key={runId} id={runId} />;
}

function RunPage({ id }: { id: string }) {
  const { run, steps, error, stepsError, reload } = useRun(id);
  const events = useEvents(id);
  const [openStep, setOpenStep] = useState<string>();
  useTitle(run?.goal ?? 'Run');
  if (!run)
    return (
      <>
        <h1>Run</h1>
        {error ? <Problem error={error} /> : <p className="soft">Loading…</p>}
      </>
    );
  const at = steps?.steps.findIndex(({ step_id }) => step_id === openStep) ?? -1;
  const stepInDrawer = steps?.steps[at];
  return (
    <>
      <h1>
        <bdi>{run.goal === '' ? 'Run without a goal' : run.goal}</bdi>
      </h1>
      <div className="toolbar">
        <p role="status">
          <span className="hidden">State: </span>
          <Badge state={stateOf(run)} />
        </p>
        <Actions run={run} onDone={reload} />
      </div>
      <Problem error={error} />
      <About run={run} steps={steps} />
      <PendingDecisions run={run} onDone={reload} />
      <Outcome run={run} />
      <StepProgress {...events} />
      <Agents run={run} steps={steps?.steps ?? []} />
      <section aria-labelledby="steps">
        <h2 id="steps">Steps</h2>
        <Problem error={stepsError} />
        {steps && <Waterfall run={run} steps={steps.steps} onOpen={(step: Step) => setOpenStep(step.step_id)} />}
      </section>
      <Files run={run} />
      <section aria-labelledby="input">
        <h2 id="input">Input</h2>
        <Data value={{ ...run.input_variables, ...run.runtime_inputs }} label="Input values" />
      </section>
      <Events {...events} />
      {stepInDrawer && (
        <StepDrawer run={run} step={stepInDrawer} number={at + 1} onClose={() => setOpenStep(undefined)} />
      )}
    </>
  );
}

function About({ run, steps }: { run: Execution; steps: Monitoring | undefined }) {
  const { execution_id, agentflow_id, agentflow, agentflow_version, created_at, end_time, executed_by, schedule } = run;
  const { parent_execution_id, execution_context } = run;
  const usage = run.agents_output.map((output) => output.usage);
  const [input, output] = [sum(usage.map((use) => use.input_tokens)), sum(usage.map((use) => use.output_tokens))];
  const { lifecycle_id: lifecycle, rerun_of, rerun_reason } = execution_context;
  return (
    <dl className="facts">
      <Fact name="Agentflow">
        <AgentflowLink id={agentflow_id}>
          <bdi>{agentflow.name}</bdi>
        </AgentflowLink>
        {agentflow_version !== null && `, version ${agentflow_version}`}
      </Fact>
      <Fact name="Execution id">
        <code>{execution_id}</code>
      </Fact>
      <Fact name="Created">
        <Time at={created_at} />
      </Fact>
      {end_time !== null && (
        <Fact name="Ended">
          <Time at={end_time} />
        </Fact>
      )}
      {run.status !== 'ready' && (
        <Fact name="Duration">
          <Elapsed from={steps?.steps[0]?.started_at ?? created_at} to={end_time} />
        </Fact>
      )}
      <Fact name="Started by">
        <bdi>{executed_by.name}</bdi> ({executed_by.type})
      </Fact>
      {typeof schedule === 'string' && (
        <Fact name="Schedule">
          <ScheduleLink id={schedule} />
        </Fact>
      )}
      {typeof rerun_of === 'string' && (
        <Fact name="Rerun of">
          <RunLink id={rerun_of} />
          {typeof rerun_reason === 'string' && (
            <>
              : <bdi>{rerun_reason}</bdi>
            </>
          )}
        </Fact>
      )}
      <Fact name="Tokens">
        {input} input, {output} output
      </Fact>
      {typeof steps?.credits === 'number' && <Fact name="Credits">{steps.credits}</Fact>}
      {parent_execution_id !== null && (
        <Fact name="Parent run">
          <RunLink id={parent_execution_id} />
        </Fact>
      )}
      {typeof lifecycle === 'string' && (
        <Fact name="Lifecycle">
          <LifecycleLink id={lifecycle} />
        </Fact>
      )}
      {steps?.temporal_ui_url && (
        <Fact name="Workflow">
          <a href={steps.temporal_ui_url} rel="noreferrer">
            Open in the Temporal UI
          </a>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Shows the inbox items that the run waits for. */
function PendingDecisions({ run, onDone }: { run: Execution; onDone: () => Promise<unknown> }) {
  const may = useMay();
  const waiting = isOver(run) ? undefined : waitingOf(run);
  const isHeld = waiting !== undefined && waiting.kind !== 'step';
  const { data, error, refetch } = useQuery({
    queryKey: ['inbox', 'of', run.execution_id, waiting?.agent_id, waiting?.approval_id],
    queryFn: () => call('get', '/inbox', { query: { limit: 200 } }),
    enabled: isHeld && may('get /inbox'),
    refetchInterval: pollInterval,
  });
  if (!isHeld) return null;
  const items = data?.data.filter(({ execution_id }) => execution_id === run.execution_id) ?? [];
  return (
    <section aria-labelledby="waits">
      <h2 id="waits">Waiting for a decision</h2>
      <Problem error={error} />
      {items.map((item) => (
        <InboxCard key={item._id} item={item} isOnRun onDone={() => Promise.all([refetch(), onDone()])} />
      ))}
    </section>
  );
}

function Outcome({ run }: { run: Execution }) {
  const failure = failureOf(run);
  return (
    <>
      {failure && (
        <section aria-labelledby="failure">
          <h2 id="failure">{stateOf(run) === 'cancelled' ? 'Cancellation reason' : 'Failure reason'}</h2>
          <p className="problem">
            {failure.code.replaceAll('_', ' ')}: {failure.message}
          </p>
        </section>
      )}
      {run.conclusion && (
        <section aria-labelledby="conclusion">
          <h2 id="conclusion">Conclusion</h2>
          <div className="text rendered">
            <Suspense fallback={<p>{run.conclusion.conclusion}</p>}>
              <Markdown text={run.conclusion.conclusion} />
            </Suspense>
          </div>
          {run.conclusion.links.length > 0 && <p className="soft">Links: {run.conclusion.links.join(', ')}</p>}
        </section>
      )}
    </>
  );
}

function Files({ run: { files } }: { run: Execution }) {
  if (files.length === 0) return null;
  return (
    <section aria-labelledby="files">
      <h2 id="files">Files</h2>
      <ul>
        {files.map(({ name, mime_type, location }) => (
          <li key={location}>
            <bdi>{name}</bdi> <span className="soft">{mime_type}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
