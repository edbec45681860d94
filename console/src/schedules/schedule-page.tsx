import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api.js';
import { Facts } from '../facts.js';
import { AgentflowLink, RunLink } from '../links.js';
import {
  Badge,
  durationText,
  ScrollTable,
  LoadOlder,
  Problem,
  Page,
  Section,
  Loading,
  Loaded,
  StateLine,
} from '../parts.js';
import { Time } from '../time.js';
import { ScheduleActions } from './actions.js';
import { cadenceOf } from './cadence.js';
import { overlapTexts, type Schedule, type ScheduleRun, type ScheduleRuns } from './schedule.js';
import { usePages } from '../use-pages.js';
import { usePolled } from '../use-polled.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import listStyles from '../styles/lists.module.css';
import controlStyles from '../styles/controls.module.css';

const route = getRouteApi('/schedules/$scheduleId');
const pageSize = 25;

export function ScheduleDetails() {
  const { scheduleId: id } = route.useParams();
  const [done, setDone] = useState<string>();
  const params = { id };
  const schedule = usePolled(['schedule', id], () => call('get', '/schedule/coworker/{id}', { params }));
  const runs = usePages<ScheduleRuns>({
    queryKey: ['schedule', id, 'runs'],
    load: (query) => call('get', '/schedule/coworker/{id}/runs', { params, query }),
    counted: ['run', 'runs'],
    pageSize,
  });
  return (
    <Page title={schedule.data?.goal.template ?? 'Schedule'}>
      <Loaded query={schedule}>
        {(stored) => (
          <>
            <div className={controlStyles.toolbar}>
              <StateLine state={stored.status} />
              <ScheduleActions schedule={stored} onDone={setDone} />
            </div>
            <p role="status">{done}</p>
            <About schedule={stored} runs={runs.newest} />
            <Section title="Next runs">
              <Next runs={runs.newest} />
            </Section>
            <Section title="History">
              <Problem error={runs.error} />
              <History runs={runs.rows} />
              <LoadOlder hasOlder={runs.hasOlder} load={runs.loadOlder} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function About({ schedule, runs }: { schedule: Schedule; runs: ScheduleRuns | undefined }) {
  const { _id, coworker_id, type, reason, count, limit, overlap, jitter, catchup_window, table } = schedule;
  const { data: flow } = useQuery({
    queryKey: ['agentflow', coworker_id],
    queryFn: () => call('get', '/agentflow/{id}', { params: { id: coworker_id } }),
  });
  return (
    <Facts
      of={{
        When: type === 'once' ? <Time at={schedule.schedule} isExact /> : cadenceOf(schedule),
        Ends: schedule.ends_at !== null && <Time at={schedule.ends_at} isExact />,
        'Pause reason': reason !== null && <bdi>{reason}</bdi>,
        'Runs so far': limit === null ? count : `${count}; limit for planned runs: ${limit}`,
        'If a run is in progress': overlapTexts[overlap],
        'Catch-up window': durationText(catchup_window),
        Jitter: jitter > 0 && durationText(jitter),
        'Skipped, missed': runs && `${runs.skipped_overlap}, ${runs.missed_catchup}`,
        'After a failed run': schedule.pause_on_failure ? 'Pause' : 'Continue',
        'One run for each row of': table !== null && <code>{table}</code>,
        Agentflow: (
          <AgentflowLink id={coworker_id}>{flow ? <bdi>{flow.name}</bdi> : <code>{coworker_id}</code>}</AgentflowLink>
        ),
        'Schedule id': <code>{_id}</code>,
        Temporal: runs && (
          <a href={runs.temporal_ui_url} rel="noreferrer">
            Schedule in the Temporal UI
          </a>
        ),
      }}
    />
  );
}

function Next({ runs }: { runs: ScheduleRuns | undefined }) {
  if (runs === undefined) return <Loading />;
  if (runs.next.length === 0) return <p className={messageStyles.empty}>No upcoming runs.</p>;
  return (
    <ol className={listStyles.times} aria-label="Next runs">
      {runs.next.map((at) => (
        <li key={at}>
          <Time at={at} isExact />
        </li>
      ))}
    </ol>
  );
}

function History({ runs }: { runs: readonly ScheduleRun[] | undefined }) {
  if (runs === undefined) return <Loading />;
  if (runs.length === 0) return <p className={messageStyles.empty}>No runs yet.</p>;
  return (
    <ScrollTable label="Past runs" head={['Planned', 'State', 'Reason', 'Duration', 'Runs', 'Temporal']}>
      {runs.map((run, at) => (
        // Runs triggered within the same second have the same time, so the time alone is not unique.
        <HistoryRow key={`${run.scheduled_for} ${run.temporal_ui_url ?? at}`} run={run} />
      ))}
    </ScrollTable>
  );
}

const reasonTexts: Record<string, string> = {
  overlap: 'Another run was in progress',
  paused: 'The schedule was paused',
  limit: 'The limit was reached',
  catchup_window: 'The catch-up window was exceeded',
};

function HistoryRow({ run }: { run: ScheduleRun }) {
  const { scheduled_for, started_at, ended_at, status, reason, executions, error, temporal_ui_url } = run;
  return (
    <tr>
      <th scope="row">
        <Time at={scheduled_for} isExact />
      </th>
      <td>
        <Badge state={status} />
        {error !== null && <p className={textStyles.bad}>{error}</p>}
      </td>
      <td>{reason === null ? '' : (reasonTexts[reason] ?? reason)}</td>
      <td>{started_at === null || ended_at === null ? '' : durationText(ended_at - started_at)}</td>
      <td>
        {executions.length > 0 && (
          <ul>
            {executions.map(({ execution_id: runId, record_id, status: state, error: failure }) => (
              <li key={runId ?? record_id}>
                <Badge state={state} /> {runId === null ? (failure ?? 'Not created') : <RunLink id={runId} />}
              </li>
            ))}
          </ul>
        )}
      </td>
      <td>
        {temporal_ui_url !== null && (
          <a href={temporal_ui_url} rel="noreferrer">
            Run<span className={textStyles.hidden}> in the Temporal UI</span>
          </a>
        )}
      </td>
    </tr>
  );
}
