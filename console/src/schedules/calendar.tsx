import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.js';
import { ActionButton, Problem, Section } from '../parts.js';
import { Time } from '../time.js';
import type { ListedSchedule, PlannedTimes, Schedule } from './schedule.js';
import { ScheduleLink } from '../links.js';
import { useAgentflowNames } from '../runs/choices.js';
import { timeFormats, useTimeZone } from '../time-zone.js';
import { daysOf, rangeOf, runsByDay, type Day, type DayRuns } from './week.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';
import styles from './calendar.module.css';

/** More runs of a schedule on one day are counted. */
const shownTimes = 3;
const refreshMs = 60_000;
const dayFormat = new Intl.DateTimeFormat(undefined, {
  timeZone: 'UTC',
  weekday: 'long',
  day: 'numeric',
  month: 'short',
});

/** Shows the planned runs of a week in the zone of the person: a column for each day, in the order of their times. */
export function Calendar({ schedules }: { schedules: readonly ListedSchedule[] }) {
  const [week, setWeek] = useState(0);
  const timeZone = useTimeZone();
  const days = daysOf(week, new Date(), timeZone);
  const { from, to } = rangeOf(days);
  const active = schedules.filter(({ status }) => status === 'active');
  const planned = useQueries({
    queries: active.map((schedule) => ({
      queryKey: ['schedule', schedule._id, 'times', from],
      // The list has all times of a week of most schedules.
      enabled: !hasTimesUntil(schedule, to),
      queryFn: () =>
        call('get', '/schedule/coworker/{id}/times', {
          params: { id: schedule._id },
          query: { from: Math.max(from, Date.now() / 1000), to },
        }),
      refetchInterval: refreshMs,
    })),
  });
  const error = planned.find((query) => query.error)?.error;
  const runs = runsByDay(
    days,
    active.map((schedule, at) => {
      const { times, isComplete } = timesOfWeek(schedule, to, planned[at]?.data);
      return { schedule, times: withinLimit(schedule, times), isComplete };
    }),
    timeZone,
  );
  const [first, last] = [days[0], days.at(-1)];
  return (
    <Section title="Upcoming runs">
      <div className={controlStyles.toolbar}>
        <ActionButton name="Previous week" isDisabled={week === 0} onClick={() => setWeek(week - 1)} />
        <ActionButton name="Next week" onClick={() => setWeek(week + 1)} />
        <p role="status">
          {first && dayFormat.format(first.date)} to {last && dayFormat.format(last.date)}, in{' '}
          {timeZone ?? 'the time zone of this browser'}
        </p>
      </div>
      <Problem error={error} />
      {active.length === 0 ? (
        <p className={messageStyles.empty}>No schedules are active.</p>
      ) : (
        <div className={styles.scroll} role="region" aria-label="Calendar of upcoming runs" tabIndex={0}>
          <ol className={styles.week}>
            {days.map((day) => (
              <DayColumn key={day.key} day={day} runs={runs.get(day.key) ?? []} />
            ))}
          </ol>
        </div>
      )}
    </Section>
  );
}

function DayColumn({ day: { date }, runs }: { day: Day; runs: readonly DayRuns<Schedule>[] }) {
  return (
    <li>
      <h3>{dayFormat.format(date)}</h3>
      {runs.length === 0 && <p className={textStyles.soft}>Nothing</p>}
      <ul>
        {runs.map((each) => (
          <DayEntry key={each.schedule._id} {...each} />
        ))}
      </ul>
    </li>
  );
}

/** The runs of one schedule on one day. */
function DayEntry({ schedule: { _id: id, goal, coworker_id }, times, isIncomplete }: DayRuns<Schedule>) {
  const flow = useAgentflowNames()(coworker_id);
  return (
    <li className={styles.entry}>
      <DayTimes times={times} isIncomplete={isIncomplete} />
      <ScheduleLink id={id}>
        <bdi>{goal.template}</bdi>
      </ScheduleLink>
      <bdi className={textStyles.soft}>{flow}</bdi>
    </li>
  );
}

/** The API lists this many next times of a schedule, or all of them if there are fewer. */
const listedTimes = 10;

/** Whether the list has all planned times of a schedule before a time. */
function hasTimesUntil({ next_times: next }: ListedSchedule, to: number): boolean {
  return next !== null && (next.length < listedTimes || (next.at(-1) ?? 0) >= to);
}

/** The planned times of a schedule up to the end of a week: from the list if it has them all, otherwise as asked for. */
function timesOfWeek(schedule: ListedSchedule, to: number, asked: PlannedTimes | undefined) {
  if (hasTimesUntil(schedule, to)) return { times: schedule.next_times ?? [], isComplete: true };
  const times = asked?.times.map(({ scheduled_for }) => scheduled_for) ?? [];
  return { times, isComplete: asked?.is_complete ?? true };
}

/** Cuts the planned runs at the schedule's limit. `count` includes triggered runs, so the schedule may end later. */
function withinLimit({ limit, count }: Schedule, planned: readonly number[]): readonly number[] {
  return limit === null ? planned : planned.slice(0, Math.max(0, limit - count));
}

/** Shows the times of a day. If there are many, shows their number, the first and the last. */
function DayTimes({ times, isIncomplete }: { times: readonly number[]; isIncomplete: boolean }) {
  const { minute } = timeFormats(useTimeZone());
  if (times.length === 0) return <strong>More runs</strong>;
  if (times.length > shownTimes || isIncomplete)
    return (
      <strong>
        {isIncomplete ? 'More than ' : ''}
        {times.length} runs, <Time at={times[0]} format={minute} /> to <Time at={times.at(-1)} format={minute} />
      </strong>
    );
  return (
    <strong>
      {times.map((at, index) => (
        <span key={at}>
          {index > 0 && ', '}
          <Time at={at} format={minute} />
        </span>
      ))}
    </strong>
  );
}
