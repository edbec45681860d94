import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.js';
import { ActionButton, Problem, ScrollTable, Time, Section } from '../parts.js';
import type { ListedSchedule, PlannedTimes, Schedule } from './schedule.js';
import { ScheduleLink } from '../links.js';
import { useAgentflowNames } from '../runs/choices.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';

const days = 7;
const shownTimes = 3;
const refreshMs = 60_000;

/** Returns the local midnight at the start of a day, `after` days from today. */
function startOfDay(after: number): Date {
  const date = new Date();
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + after);
}

const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** Shows the planned runs of a week in local time, with a row for each schedule and a column for each day. */
export function Calendar({ schedules }: { schedules: readonly ListedSchedule[] }) {
  const [week, setWeek] = useState(0);
  const starts = Array.from({ length: days + 1 }, (_, at) => startOfDay(week * days + at));
  const [from, to] = [starts[0]?.getTime() ?? 0, starts.at(-1)?.getTime() ?? 0];
  const active = schedules.filter(({ status }) => status === 'active');
  const planned = useQueries({
    queries: active.map((schedule) => ({
      queryKey: ['schedule', schedule._id, 'times', from],
      // The list has all times of a week of most schedules.
      enabled: !hasTimesUntil(schedule, to / 1000),
      queryFn: () =>
        call('get', '/schedule/coworker/{id}/times', {
          params: { id: schedule._id },
          query: { from: Math.max(from, Date.now()) / 1000, to: to / 1000 - 1 },
        }),
      refetchInterval: refreshMs,
    })),
  });
  const error = planned.find((query) => query.error)?.error;
  return (
    <Section title="Upcoming runs">
      <div className={controlStyles.toolbar}>
        <ActionButton name="Previous week" isDisabled={week === 0} onClick={() => setWeek(week - 1)} />
        <ActionButton name="Next week" onClick={() => setWeek(week + 1)} />
        <p role="status">
          {starts[0] && dayFormat.format(starts[0])} to {starts[days - 1] && dayFormat.format(starts[days - 1])}, local
          time
        </p>
      </div>
      <Problem error={error} />
      {active.length === 0 ? (
        <p className={messageStyles.empty}>No schedules are active.</p>
      ) : (
        <ScrollTable
          label="Calendar of upcoming runs"
          head={['Schedule', ...starts.slice(0, days).map((day) => dayFormat.format(day))]}
        >
          {active.map((schedule, at) => {
            const { times, isComplete } = timesOfWeek(schedule, to / 1000, planned[at]?.data);
            return (
              <WeekRow
                key={schedule._id}
                schedule={schedule}
                starts={starts}
                times={withinLimit(schedule, times)}
                isComplete={isComplete}
              />
            );
          })}
        </ScrollTable>
      )}
    </Section>
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

interface WeekRowOptions {
  schedule: Schedule;
  starts: readonly Date[];
  times: readonly number[];
  isComplete: boolean;
}

function WeekRow({ schedule: { _id: id, goal, coworker_id }, starts, times, isComplete }: WeekRowOptions) {
  const flow = useAgentflowNames()(coworker_id);
  const lastKnown = isComplete ? Infinity : (times.at(-1) ?? Infinity) * 1000;
  return (
    <tr>
      <th scope="row">
        <ScheduleLink id={id}>
          <bdi>{goal.template}</bdi>
        </ScheduleLink>
        <br />
        <bdi className={textStyles.soft}>{flow}</bdi>
      </th>
      {starts.slice(0, -1).map((day, at) => {
        const end = starts[at + 1]?.getTime() ?? Infinity;
        const due = times.filter((time) => time * 1000 >= day.getTime() && time * 1000 < end);
        return (
          <td key={day.getTime()}>
            <DayTimes times={due} isIncomplete={end > lastKnown} />
          </td>
        );
      })}
    </tr>
  );
}

/** Shows the times of a day. If there are many, shows their number, the first and the last. */
function DayTimes({ times, isIncomplete }: { times: readonly number[]; isIncomplete: boolean }) {
  if (times.length === 0) return <span className={textStyles.soft}>{isIncomplete ? '…' : '–'}</span>;
  if (times.length > shownTimes || isIncomplete)
    return (
      <>
        {isIncomplete ? 'More than ' : ''}
        {times.length} runs, <Time at={times[0]} format={timeFormat} /> to{' '}
        <Time at={times.at(-1)} format={timeFormat} />
      </>
    );
  return (
    <ul>
      {times.map((at) => (
        <li key={at}>
          <Time at={at} format={timeFormat} />
        </li>
      ))}
    </ul>
  );
}
