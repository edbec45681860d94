import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { call, type Execution, type InboxItem } from './api.js';
import { Box } from './home-box.js';
import { Health, Quota, SyncHealth, Workers } from './home-state.js';
import { goalOf } from './inbox/edits.js';
import { hiddenCalls, readInbox } from './inbox/inbox.js';
import { ApprovalLink, RunLink, ScheduleLink } from './links.js';
import { quantity } from './quantity.js';
import { roleNames } from './roles.js';
import { Elapsed, Time, Page, Loading } from './parts.js';
import { useHoldsGrant, useMay, useSession } from './session.js';
import { queryOf, type RunFilter } from './runs/filter.js';
import { failureOf } from './states.js';
import { usePolled } from './use-polled.js';

const Day = lazy(() => import('./charts/day.js').then(({ Day: component }) => ({ default: component })));
const maxEntries = 5;

export function Home() {
  const { project } = useSession().session;
  const may = useMay();
  const seesRuns = may('get /{projectID}/execution_flows');
  return (
    <Page title={project?.name ?? ''} name="Home">
      {!seesRuns && (
        <p className="note">
          Your role in this project ({roleNames(project?.roles ?? [])}) does not include access to runs. The navigation
          lists the pages that you can open.
        </p>
      )}
      <div className="panels">
        {seesRuns && <Panel name="Failed in the last 24 hours" filter={{ state: 'failed', since: '24h' }} />}
        {may('get /inbox') && <WaitingPanel />}
        {seesRuns && <Panel name="Running" filter={{ state: 'running' }} />}
        {may('get /schedule/coworker') && <NextPanel />}
        {seesRuns && <Panel name="Completed in the last 24 hours" filter={{ state: 'completed', since: '24h' }} />}
        {seesRuns && <Panel name="Ready to execute" filter={{ state: 'ready' }} />}
      </div>
      <div className="panels small">
        {may('get /customer') && <Quota />}
        <Health />
        {may('get /{projectID}/queues') && <Workers />}
        {may('get /{projectID}/syncs') && <SyncHealth />}
      </div>
      {may('get /analytics/{projectID}') && (
        <Suspense fallback={<Loading />}>
          <Day />
        </Suspense>
      )}
    </Page>
  );
}

function Panel({ name, filter }: { name: string; filter: RunFilter }) {
  const { data, error } = usePolled(['home', 'runs', filter], () =>
    call('get', '/{projectID}/execution_flows', {
      query: { limit: maxEntries, fields: 'summary', ...queryOf(filter) },
    }),
  );
  const count = data && `${data.total_is_lower_bound ? 'More than ' : ''}${data.total_count}`;
  return (
    <Box
      name={name}
      count={count}
      error={error}
      link={{ to: '/runs', search: filter }}
      rows={data?.data.map((run) => (
        <RunLine key={run.execution_id} run={run} />
      ))}
    />
  );
}

function RunLine({ run }: { run: Execution }) {
  const { execution_id: id, goal, created_at, end_time, agentflow } = run;
  const why = failureOf(run)?.message;
  return (
    <li>
      <span className="soft right">
        {run.status === 'ready' ? <Time at={created_at} /> : <Elapsed from={created_at} to={end_time} />}
      </span>
      <RunLink id={id}>
        <bdi>{goal === '' ? agentflow.name : goal}</bdi>
      </RunLink>
      {why !== undefined && (
        <span className="soft detail" title={why}>
          {why}
        </span>
      )}
    </li>
  );
}

function WaitingPanel() {
  const { data, error } = usePolled(['inbox'], readInbox);
  const seesAll = useHoldsGrant('svc:governance.read');
  return (
    <Box
      name="Waiting for a decision"
      count={data && String(data.length)}
      error={error}
      link={{ to: '/inbox' }}
      rows={data?.slice(0, maxEntries).map((item) => (
        <WaitingLine key={item._id} item={item} />
      ))}
    >
      {!seesAll && <p className="soft">{hiddenCalls}</p>}
    </Box>
  );
}

function WaitingLine({ item }: { item: InboxItem }) {
  const { title, created_at, execution_id: run, approval_id: approval } = item;
  const name = <bdi title={title}>{goalOf(item) ?? title}</bdi>;
  return (
    <li>
      <span className="soft right">
        <Time at={created_at} />
      </span>
      {run !== null && <RunLink id={run}>{name}</RunLink>}
      {run === null && approval !== null && <ApprovalLink id={approval}>{name}</ApprovalLink>}
      {run === null && approval === null && (
        <Link to="/inbox" search={{ item: item._id }}>
          {name}
        </Link>
      )}
    </li>
  );
}

/** Returns the next planned times of the newest schedules. */
async function readNext() {
  const schedules = await call('get', '/schedule/coworker', { query: { limit: 25 } });
  const planned = schedules.data.flatMap(({ _id: id, goal, next_times }) =>
    (next_times ?? []).map((at) => ({ at, id, goal: goal.template })),
  );
  const next = planned.sort((a, b) => a.at - b.at).slice(0, maxEntries);
  return { next, total: schedules.total_count };
}

function NextPanel() {
  const { data, error } = usePolled(['home', 'next'], readNext);
  return (
    <Box
      name="Next runs"
      count={data && quantity(data.total, 'schedule')}
      error={error}
      link={{ to: '/schedules' }}
      rows={data?.next.map(({ at, id, goal }) => (
        <li key={`${id}${at}`}>
          <span className="soft right">
            <Time at={at} />
          </span>
          <ScheduleLink id={id}>
            <bdi>{goal}</bdi>
          </ScheduleLink>
        </li>
      ))}
    />
  );
}
