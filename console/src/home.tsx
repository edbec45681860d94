import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { call, type Execution, type InboxItem } from './api.js';
import { Box, Count, type Tone } from './home-box.js';
import { StateOfService } from './home-state.js';
import { goalOf } from './inbox/subject.js';
import { hiddenCalls } from './inbox/nothing-waits.js';
import { readInbox } from './inbox/read-inbox.js';
import { ApprovalLink, RunLink, ScheduleLink } from './links.js';
import { Onboarding } from './onboarding/onboarding.js';
import { roleNames } from './roles.js';
import { Elapsed, Page, Loading } from './parts.js';
import { Time } from './time.js';
import { useHoldsGrant, useMay, useSession } from './session.js';
import { useAgentflowNames } from './runs/choices.js';
import { queryOf, type RunFilter } from './runs/filter.js';
import { failureOf } from './states.js';
import { usePolled } from './use-polled.js';
import messageStyles from './styles/message.module.css';
import textStyles from './styles/text.module.css';
import panelStyles from './panel.module.css';

const OverTime = lazy(() =>
  import('./charts/over-time.js').then(({ OverTime: component }) => ({ default: component })),
);
const route = getRouteApi('/');
const maxEntries = 5;

const failed = { name: 'Failed in the last 24 hours', filter: { state: 'failed', since: '24h' } } as const;
const running = { name: 'Running', filter: { state: 'running' } } as const;
const ready = { name: 'Ready to execute', filter: { state: 'ready' } } as const;
const completed = { name: 'Completed in the last 24 hours', filter: { state: 'completed', since: '24h' } } as const;

/** What needs a person comes first. What is fine takes one line. */
export function Home() {
  const { project } = useSession().session;
  const { since } = route.useSearch();
  const may = useMay();
  const seesRuns = may('get /{projectID}/execution_flows');
  return (
    <Page title={project?.name ?? ''} name="Home">
      {!seesRuns && (
        <p className={messageStyles.note}>
          Your role in this project ({roleNames(project?.roles ?? [])}) does not include access to runs. The navigation
          lists the pages that you can open.
        </p>
      )}
      <Onboarding />
      <div className={panelStyles.panels}>
        {seesRuns && <RunBox {...failed} tone="bad" />}
        {may('get /inbox') && <WaitingBox />}
      </div>
      <StateOfService>
        {seesRuns && <RunCount {...failed} isOnlyZero />}
        {may('get /inbox') && <WaitingCount />}
        {seesRuns && <RunCount {...running} isOnlyZero />}
        {seesRuns && <RunCount {...ready} />}
        {seesRuns && <RunCount {...completed} />}
      </StateOfService>
      <div className={panelStyles.panels}>
        {seesRuns && <RunBox {...running} />}
        {may('get /schedule/coworker') && <NextBox />}
      </div>
      {may('get /analytics/{projectID}') && (
        <Suspense fallback={<Loading />}>
          <OverTime since={since} page="/" />
        </Suspense>
      )}
    </Page>
  );
}

interface Counted {
  name: string;
  filter: RunFilter;
}

const useCounted = (filter: RunFilter) =>
  usePolled(['home', 'runs', filter], () =>
    call('get', '/{projectID}/execution_flows', {
      query: { limit: maxEntries, fields: 'summary', ...queryOf(filter) },
    }),
  );

function RunBox({ name, filter, tone }: Counted & { tone?: Tone }) {
  const { data, error } = useCounted(filter);
  return (
    <Box
      name={name}
      count={data?.total_count}
      isMore={data?.total_is_lower_bound}
      tone={tone}
      error={error}
      link={{ to: '/runs', search: filter }}
      rows={data?.data.map((run) => (
        <RunLine key={run.execution_id} run={run} />
      ))}
    />
  );
}

/** With `isOnlyZero`, a box shows other counts. */
function RunCount({ name, filter, isOnlyZero = false }: Counted & { isOnlyZero?: boolean }) {
  const { data } = useCounted(filter);
  if (isOnlyZero && data?.total_count !== 0) return null;
  return (
    <Count
      name={name}
      count={data?.total_count}
      isMore={data?.total_is_lower_bound}
      link={{ to: '/runs', search: filter }}
    />
  );
}

function RunLine({ run }: { run: Execution }) {
  const { execution_id: id, goal, created_at, end_time, agentflow } = run;
  const why = failureOf(run)?.message;
  return (
    <li>
      <span className={panelStyles.right}>
        {run.status === 'running' ? <Elapsed from={created_at} to={null} /> : <Time at={end_time ?? created_at} />}
      </span>
      <RunLink id={id}>
        <bdi>{goal === '' ? agentflow.name : goal}</bdi>
      </RunLink>
      <bdi className={panelStyles.detail}>{agentflow.name}</bdi>
      {why !== undefined && (
        <span className={panelStyles.why} title={why}>
          {why}
        </span>
      )}
    </li>
  );
}

const waiting = { name: 'Waiting for a decision', link: { to: '/inbox' } } as const;

function WaitingBox() {
  const { data, error } = usePolled(['inbox'], readInbox);
  return (
    <Box
      {...waiting}
      count={data?.length}
      tone="held"
      error={error}
      rows={data?.slice(0, maxEntries).map((item) => (
        <WaitingLine key={item._id} item={item} />
      ))}
    />
  );
}

/** Nobody reads "0" as "nothing" who does not see everything. */
function WaitingCount() {
  const { data } = usePolled(['inbox'], readInbox);
  const seesAll = useHoldsGrant('svc:governance.read');
  return (
    <>
      {data?.length === 0 && <Count {...waiting} count={0} />}
      {!seesAll && <li className={textStyles.soft}>{hiddenCalls}</li>}
    </>
  );
}

function WaitingLine({ item }: { item: InboxItem }) {
  const { title, created_at, execution_id: run, approval_id: approval } = item;
  const goal = goalOf(item);
  const name = <bdi title={title}>{goal ?? title}</bdi>;
  return (
    <li>
      <span className={panelStyles.right}>
        <Time at={created_at} />
      </span>
      {run !== null && <RunLink id={run}>{name}</RunLink>}
      {run === null && approval !== null && <ApprovalLink id={approval}>{name}</ApprovalLink>}
      {run === null && approval === null && (
        <Link to="/inbox" search={{ item: item._id }}>
          {name}
        </Link>
      )}
      {goal !== undefined && <bdi className={panelStyles.detail}>{title}</bdi>}
    </li>
  );
}

/** Returns the next planned times of the newest schedules. */
async function readNext() {
  const schedules = await call('get', '/schedule/coworker', { query: { limit: 25 } });
  const planned = schedules.data.flatMap(({ _id: id, goal, coworker_id: agentflow, next_times }) =>
    (next_times ?? []).map((at) => ({ at, id, agentflow, goal: goal.template })),
  );
  const next = planned.sort((a, b) => a.at - b.at).slice(0, maxEntries);
  return { next };
}

function NextBox() {
  const nameOf = useAgentflowNames();
  const { data, error } = usePolled(['home', 'next'], readNext);
  return (
    <Box
      name="Next runs"
      count={data?.next.length}
      allName="All schedules"
      error={error}
      link={{ to: '/schedules' }}
      rows={data?.next.map(({ at, id, goal, agentflow }) => (
        <li key={`${id}${at}`}>
          <span className={panelStyles.right}>
            <Time at={at} />
          </span>
          <ScheduleLink id={id}>
            <bdi>{goal === '' ? nameOf(agentflow) : goal}</bdi>
          </ScheduleLink>
          <bdi className={panelStyles.detail}>{nameOf(agentflow)}</bdi>
        </li>
      ))}
    />
  );
}
