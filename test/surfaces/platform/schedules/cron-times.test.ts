import { expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, schedule, scheduled } from './schedules.js';

const deps = useDeps();

/** What a clock shows. Weekday 0 is Sunday, month 1 January. */
interface Clock {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
}

const noon = ({ minute: at, hour }: Clock) => hour === 12 && at === 0;

/** Every field of cron, with what it means. Days of a month and of a week are combined with "or", unless one begins with `*`. */
const expressions: [cron: string, matches: (clock: Clock) => boolean][] = [
  ['0 12 * * 1-7', noon],
  ['0 12 * * 0-6', noon],
  ['0 12 * * 5-7', (clock) => noon(clock) && [5, 6, 0].includes(clock.weekday)],
  ['0 12 * * 7', (clock) => noon(clock) && clock.weekday === 0],
  ['0 12 * * 0,7', (clock) => noon(clock) && clock.weekday === 0],
  ['0 12 * * SUN-tue', (clock) => noon(clock) && clock.weekday <= 2],
  ['0 12 * * */2', (clock) => noon(clock) && clock.weekday % 2 === 0],
  ['0 12 ? * MON', (clock) => noon(clock) && clock.weekday === 1],
  ['0 12 13 * 5', (clock) => noon(clock) && (clock.day === 13 || clock.weekday === 5)],
  ['0 12 31 4,6 1', (clock) => noon(clock) && [4, 6].includes(clock.month) && clock.weekday === 1],
  ['0 12 */10 * 1', (clock) => noon(clock) && clock.day % 10 === 1 && clock.weekday === 1],
  ['0 12 1-7 * */7', (clock) => noon(clock) && clock.day <= 7 && clock.weekday === 0],
  ['0 12 1,*/15 * *', (clock) => noon(clock) && clock.day % 15 === 1],
  ['0 12 29 FEB *', (clock) => noon(clock) && clock.day === 29 && clock.month === 2],
  ['0 12 10 */5 *', (clock) => noon(clock) && clock.day === 10 && clock.month % 5 === 1],
  ['0 12 10 jan-mar/2 *', (clock) => noon(clock) && clock.day === 10 && [1, 3].includes(clock.month)],
  [
    '5/20 2,3 28 3,10 *',
    (clock) =>
      [5, 25, 45].includes(clock.minute) &&
      [2, 3].includes(clock.hour) &&
      clock.day === 28 &&
      [3, 10].includes(clock.month),
  ],
  [
    '*/30 4-6 25-31 3,10 */7',
    (clock) =>
      clock.minute % 30 === 0 &&
      clock.hour >= 4 &&
      clock.hour <= 6 &&
      clock.day >= 25 &&
      [3, 10].includes(clock.month) &&
      clock.weekday === 0,
  ],
  ['@monthly', (clock) => clock.minute === 0 && clock.hour === 0 && clock.day === 1],
  ['@Weekly', (clock) => clock.minute === 0 && clock.hour === 0 && clock.weekday === 0],
];

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const [from, to] = [Date.UTC(2028, 0, 1) / 1000, Date.UTC(2028, 11, 31) / 1000];

/** What a clock in the zone shows in 2028, every five minutes. */
function clocksOf(zone: string): { at: number; clock: Clock }[] {
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', weekday: 'short', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric' },
  });
  return Array.from({ length: (to - from) / 300 }, (_, nth) => {
    const at = from + nth * 300;
    const parts = Object.fromEntries(format.formatToParts(at * 1000).map(({ type, value }) => [type, value]));
    const part = (type: string) => Number(parts[type]);
    const weekday = weekdays.indexOf(parts.weekday ?? '');
    return {
      at,
      clock: { minute: part('minute'), hour: part('hour'), day: part('day'), month: part('month'), weekday },
    };
  });
}

test.each(['Europe/Oslo', 'Australia/Lord_Howe'])(
  'a cron expression means the same here, in Temporal and in cron, on a clock of %s',
  async (time_zone) => {
    verifies('schedule.cron-fields');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const clocks = clocksOf(time_zone);
    const timesOf = async (cron: string, jitter: number) => {
      const { _id } = await scheduled(workspace, { coworker_id, type: 'cron', frequency: { cron, time_zone }, jitter });
      const { body } = await workspace.api.get(`/schedule/coworker/${_id}/times?from=${from}&to=${to}`);
      return body.times.map((time: any) => time.scheduled_for).filter((at: number) => at >= from && at < to);
    };
    for (const [cron, matches] of expressions) {
      const expected = { cron, times: clocks.filter(({ clock }) => matches(clock)).map(({ at }) => at) };
      expect({ cron, times: await timesOf(cron, 0) }).toEqual(expected);
      // With a jitter, the service computes the planned times from those of Temporal.
      expect({ cron, times: await timesOf(cron, 600) }).toEqual(expected);
    }
  },
);

test.each([
  ['a minute that no hour has', '60 * * * *', 'minute: "60" must be *, numbers from 0 to 59'],
  ['an hour that no day has', '0 24 * * *', 'hour: "24"'],
  [
    'a month by its whole name',
    '0 9 1 january *',
    'month: "january" must be *, numbers from 1 to 12, or names of three letters (JAN to DEC)',
  ],
  ['a range backwards', '0 9 * * FRI-MON', 'day of the week: "FRI-MON"'],
  ['a step of zero', '*/0 * * * *', 'minute: "*/0"'],
  [
    'a step that no hour has',
    '*/90 * * * *',
    'the step of "*/90" must be from 1 to 60. For longer distances, use an interval',
  ],
  ['an empty part of a list', '1,,3 * * * *', 'minute: "1,,3"'],
  ['the hash of Jenkins', 'H 9 * * *', 'minute: "H"'],
  ['a day that no month has', '0 9 30 2 *', 'matches no day'],
  ['seconds', '0 0 9 * * *', 'must have five fields: minute, hour, day of the month, month, day of the week'],
  [
    'a time zone at the end',
    '0 9 * * * Europe/Oslo',
    'A time zone comes before them, as in "TZ=Europe/Oslo 0 9 * * 1-5"',
  ],
  ['a nickname that is no time', '@reboot', 'must have five fields'],
])('names the part of a cron expression that is wrong: %s', async (_what, frequency, problem) => {
  verifies('schedule.cron-problems');
  const workspace = await createWorkspace(deps);
  const coworker_id = await coworker(workspace);
  const made = await schedule(workspace, { coworker_id, goal: 'g', type: 'cron', frequency });
  expect(made).toMatchObject(refusal(422, 'validation_failed', problem));
});
