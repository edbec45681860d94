import { useFirstAgentflow } from '../use-first-agentflow.js';
import { Link } from '@tanstack/react-router';
import { call } from '../api.js';
import { curl } from '../curl.js';
import { Badge, Empty, ScrollTable, LoadOlder, Problem, Page, Loading } from '../parts.js';
import { Time } from '../time.js';
import { useMay } from '../session.js';
import { usePages } from '../use-pages.js';
import { Calendar } from './calendar.js';
import { cadenceOf } from './cadence.js';
import { overlapTexts, type ListedSchedule } from './schedule.js';
import { ScheduleLink } from '../links.js';
import { useAgentflowNames } from '../runs/choices.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';

export function Schedules() {
  const may = useMay();
  const { rows, count, error, hasOlder, loadOlder } = usePages({
    queryKey: ['schedules'],
    load: (query) => call('get', '/schedule/coworker', { query }),
    counted: ['schedule', 'schedules'],
    // The API asks Temporal about each row.
    pageSize: 25,
  });
  return (
    <Page title="Schedules">
      <div className={controlStyles.toolbar}>
        <p role="status">{count}</p>
        {may('post /schedule/coworker') && (
          <Link className={`${buttonStyles.link} ${buttonStyles.primary}`} to="/schedules/new">
            New schedule
          </Link>
        )}
      </div>
      <Problem error={error} />
      {rows === undefined && !error && <Loading />}
      {rows?.length === 0 && <NothingScheduled />}
      {rows && rows.length > 0 && (
        <>
          <ScheduleTable schedules={rows} />
          <LoadOlder hasOlder={hasOlder} load={loadOlder} />
          <Calendar schedules={rows} />
        </>
      )}
    </Page>
  );
}

function ScheduleTable({ schedules }: { schedules: readonly ListedSchedule[] }) {
  return (
    <ScrollTable
      label="List of schedules"
      head={[
        'Goal',
        'Agentflow',
        'State',
        'When',
        'Next run',
        'Last run',
        'Runs',
        'If a run is in progress',
        'Temporal',
      ]}
    >
      {schedules.map((schedule) => (
        <ScheduleRow key={schedule._id} schedule={schedule} />
      ))}
    </ScrollTable>
  );
}

function ScheduleRow({ schedule }: { schedule: ListedSchedule }) {
  const { _id: id, goal, status, reason, count, limit, overlap, next_times: next, latest_run: last } = schedule;
  const flow = useAgentflowNames()(schedule.coworker_id);
  return (
    <tr>
      <th scope="row">
        <ScheduleLink id={id}>
          <bdi>{goal.template}</bdi>
        </ScheduleLink>
      </th>
      <td>
        <bdi>{flow}</bdi>
      </td>
      <td>
        <Badge state={status} />
        {reason !== null && (
          <bdi className={textStyles.clamped} title={reason}>
            {reason}
          </bdi>
        )}
      </td>
      <td>
        {cadenceOf(schedule)}
        {schedule.ends_at !== null && (
          <>
            , until <Time at={schedule.ends_at} isExact />
          </>
        )}
      </td>
      <td>{next ? <Time at={next[0]} /> : <span className={textStyles.soft}>Unknown</span>}</td>
      <td>
        {last && (
          <>
            <Badge state={last.status} /> <Time at={last.scheduled_for} />
          </>
        )}
      </td>
      <td>
        {count}
        {limit !== null && ` of ${limit}`}
      </td>
      <td>{overlapTexts[overlap]}</td>
      <td>
        <a href={schedule.temporal_ui_url} rel="noreferrer">
          Open<span className={textStyles.hidden}> the schedule {goal.template} in the Temporal UI</span>
        </a>
      </td>
    </tr>
  );
}

function NothingScheduled() {
  const agentflowId = useFirstAgentflow(true);
  const command = curl('schedule/coworker', {
    ...{ coworker_id: agentflowId, goal: 'Brief the team', type: 'cron' },
    frequency: 'CRON_TZ=Europe/Oslo 0 9 * * 1-5',
  });
  return (
    <Empty command={command}>
      This project has no schedules yet. A schedule runs an agentflow once, at an interval, by a cron expression or on
      days of a calendar. Create one here, or with this command:
    </Empty>
  );
}
