import type { LocalTimes } from '../../temporal/local-times.js';
import { dayRules } from './calendar-days.js';
import type { Calendar } from './frequency.js';

/** The times of a calendar, grouped by minute: each group has all of its hours with this minute. */
export function timesOfCalendar(calendar: Calendar): LocalTimes {
  const times = calendar.times.map((time) => ({ hour: Number(time.slice(0, 2)), minute: Number(time.slice(3)) }));
  const minutes = [...new Set(times.map(({ minute }) => minute))];
  return {
    days: dayRules(calendar),
    times: minutes.map((minute) => ({
      hours: times.filter((time) => time.minute === minute).map(({ hour }) => hour),
      minutes: [minute],
    })),
    time_zone: calendar.time_zone,
  };
}
