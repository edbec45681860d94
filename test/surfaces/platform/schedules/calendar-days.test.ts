import { describe, expect, test } from '@jest/globals';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, schedule, scheduled } from './schedules.js';

const deps = useDeps();
const dayMs = 86_400_000;
const seconds = (text: string) => Date.parse(text) / 1000;
const [from, to] = [seconds('2028-01-01T00:00Z'), seconds('2028-12-31T00:00Z')];

/** The times of GET …/times in 2028, which is a leap year, as the clock in Oslo shows them. */
async function timesOf({ api }: Workspace, id: string): Promise<string[]> {
  const { status, body } = await api.get(`/schedule/coworker/${id}/times?from=${from}&to=${to}`);
  expect({ status, body }).toMatchObject({ status: 200, body: { is_complete: true } });
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Oslo', dateStyle: 'short', timeStyle: 'short' });
  return body.times.map(({ scheduled_for }: any) => format.format(scheduled_for * 1000));
}

/** The days of 2028 that a rule selects, by the number of the day, the length of its month and its weekday, each at 9 o'clock. */
function expectedDays(isDay: (day: number, length: number, weekday: number, month: number) => boolean): string[] {
  return Array.from({ length: 365 }, (_, at) => new Date(from * 1000 + at * dayMs))
    .filter((date) => {
      const length = new Date(Date.UTC(2028, date.getUTCMonth() + 1, 0)).getUTCDate();
      return isDay(date.getUTCDate(), length, date.getUTCDay(), date.getUTCMonth() + 1);
    })
    .map((date) => `${date.toISOString().slice(0, 10)} 09:00`);
}

describe('a schedule of type calendar', () => {
  test.each([
    [
      'the first and the last days',
      { days_of_month: [1, 31, -1, -31] },
      (day: number, length: number) => day === 1 || day === 31 || day === length,
    ],
    [
      'weekdays in some months',
      { weekdays: ['monday', 'sunday'], months: [2, 3, 10] },
      (_d: number, _l: number, weekday: number, month: number) =>
        [0, 1].includes(weekday) && [2, 3, 10].includes(month),
    ],
    [
      'nth weekdays',
      {
        nth_weekdays: [
          { weekday: 'tuesday', nth: 2 },
          { weekday: 'friday', nth: 5 },
          { weekday: 'sunday', nth: -1 },
        ],
      },
      (day: number, length: number, weekday: number) =>
        (weekday === 2 && day >= 8 && day <= 14) || (weekday === 5 && day >= 29) || (weekday === 0 && day > length - 7),
    ],
    ['every day', {}, () => true],
  ])("has Temporal's times, in a time zone with clock changes: %s", async (_what, days, isDay) => {
    verifies('schedule.calendar');
    const workspace = await createWorkspace(deps);
    const frequency = { time_zone: 'Europe/Oslo', times: ['09:00'], ...days };
    const made = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'calendar',
      frequency,
      schedule: 0,
    });
    expect(made).toMatchObject({ type: 'calendar', frequency, ends_at: null });
    expect(await timesOf(workspace, made._id)).toEqual(expectedDays(isDay));
  });

  test('fires at several times of day, with a jitter at the same planned times', async () => {
    const workspace = await createWorkspace(deps);
    const { _id } = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'calendar',
      frequency: { time_zone: 'Europe/Oslo', times: ['17:30', '09:00'], days_of_month: [-1], months: [2, 3] },
      schedule: 0,
      jitter: 3600,
    });
    expect(await timesOf(workspace, _id)).toEqual([
      '2028-02-29 09:00',
      '2028-02-29 17:30',
      '2028-03-31 09:00',
      '2028-03-31 17:30',
    ]);
  });

  test('changes its days, marks its coworker, and takes the place of a cron expression', async () => {
    verifies('schedule.calendar');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const isMarked = async () =>
      (await workspace.api.get(`/agentflow/${coworker_id}`)).body.is_cron_scheduled as boolean;
    const { _id } = await scheduled(workspace, { coworker_id, type: 'interval', frequency: 3600, schedule: 0 });
    const path = `/schedule/coworker/${_id}`;
    expect(await isMarked()).toBe(false);
    const change = (body: object) => workspace.api.patch(path, body);
    expect(await change({ type: 'calendar' })).toMatchObject(refusal(422, 'validation_failed', 'frequency'));
    const frequency = { times: ['09:00'], days_of_month: [-1], months: [1] };
    const changed = await change({ type: 'calendar', frequency, schedule: 0 });
    expect(changed).toMatchObject({
      status: 200,
      body: { type: 'calendar', frequency: { ...frequency, time_zone: 'UTC' } },
    });
    expect(await isMarked()).toBe(true);
    expect(await timesOf(workspace, _id)).toEqual(['2028-01-31 10:00']);
    const other = { ...frequency, time_zone: 'Europe/Oslo' };
    expect(await change({ frequency: other })).toMatchObject({ status: 200, body: { frequency: other } });
    expect(await timesOf(workspace, _id)).toEqual(['2028-01-31 09:00']);
    expect(await change({ frequency: '0 9 * * *' })).toMatchObject(refusal(422, 'validation_failed', 'type calendar'));
    expect((await workspace.api.get('/schedule/coworker')).body.data).toMatchObject([
      { type: 'calendar', frequency: other },
    ]);
  });

  const calendar = (frequency: object) => ({ type: 'calendar', frequency: { times: ['09:00'], ...frequency } });
  test.each([
    ['no times', calendar({ times: [] }), 400, 'frequency.times: must have at least 1 item'],
    ['no object', { type: 'calendar', frequency: 60 }, 422, 'frequency: must be an object with times'],
    ['a cron expression', { type: 'calendar', frequency: '0 9 * * *' }, 422, 'frequency: must be an object with times'],
    ['a calendar for cron', { ...calendar({}), type: 'cron' }, 422, 'frequency: must be a cron expression'],
    ['a calendar for an interval', { ...calendar({}), type: 'interval' }, 422, 'frequency: must be an integer'],
    [
      'a time of day that does not exist',
      calendar({ times: ['09:00', '24:00'] }),
      400,
      'frequency.times.1: must be a time',
    ],
    ['a time of day with seconds', calendar({ times: ['09:00:00'] }), 400, 'frequency.times.0: must be a time'],
    ['an unknown weekday', calendar({ weekdays: ['monday', 'Mon'] }), 400, 'frequency.weekdays.1: must be one of'],
    ['no weekday', calendar({ weekdays: [] }), 400, 'frequency.weekdays: must have at least 1 item'],
    ['day 0', calendar({ days_of_month: [0] }), 400, 'frequency.days_of_month.0: must be an integer'],
    ['day 32', calendar({ days_of_month: [1, 32] }), 400, 'frequency.days_of_month.1: must be an integer'],
    ['a day before the first one', calendar({ days_of_month: [-32] }), 400, 'frequency.days_of_month.0: must be an'],
    ['half a day', calendar({ days_of_month: [1.5] }), 400, 'frequency.days_of_month.0: must be an integer'],
    [
      'the 6th weekday',
      calendar({ nth_weekdays: [{ weekday: 'monday', nth: 6 }] }),
      400,
      'frequency.nth_weekdays.0.nth: must be',
    ],
    [
      'an nth weekday without nth',
      calendar({ nth_weekdays: [{ weekday: 'monday' }] }),
      400,
      'frequency.nth_weekdays.0.nth: is required',
    ],
    [
      'an nth weekday with another field',
      calendar({ nth_weekdays: [{ weekday: 'monday', nth: 1, of: 2 }] }),
      400,
      'frequency.nth_weekdays.0: unknown field "of"',
    ],
    ['month 13', calendar({ months: [13] }), 400, 'frequency.months.0: must be an integer from 1 to 12'],
    ['an unknown field', calendar({ day: 1 }), 400, 'frequency: unknown field "day"'],
    ['an unknown time zone', calendar({ time_zone: 'Moon/Base' }), 422, 'frequency.time_zone: "Moon/Base" is not'],
    [
      'two kinds of days',
      calendar({ weekdays: ['monday'], days_of_month: [1] }),
      422,
      'frequency.days_of_month: must be omitted',
    ],
    ['a day that no month has', calendar({ days_of_month: [30], months: [2] }), 422, 'frequency: must match a day'],
    ['the last day in cron', { type: 'cron', frequency: '0 9 L * *' }, 422, 'must not contain "L". Use type calendar'],
    [
      'the last Friday in cron',
      { type: 'cron', frequency: '0 9 * * 5L' },
      422,
      'must not contain "L". Use type calendar',
    ],
    [
      'the nearest weekday in cron',
      { type: 'cron', frequency: '0 9 15W * *' },
      422,
      'must not contain "W". Use type calendar',
    ],
    [
      'the second Tuesday in cron',
      { type: 'cron', frequency: '0 9 * * TUE#2' },
      422,
      'must not contain "#". Use type calendar',
    ],
  ])('is refused: %s', async (_what, body, status, text) => {
    verifies('schedule.calendar');
    const workspace = await createWorkspace(deps);
    const coworker_id = await coworker(workspace);
    const error = status === 400 ? 'invalid_request' : 'validation_failed';
    expect(await schedule(workspace, { coworker_id, goal: 'g', ...body })).toMatchObject(refusal(status, error, text));
  });

  test('is not taken for one of those letters in the name of a month or a weekday', async () => {
    const workspace = await createWorkspace(deps);
    const body = { coworker_id: await coworker(workspace), type: 'cron', frequency: '0 9 * JUL WED' };
    expect(await scheduled(workspace, body)).toMatchObject({ frequency: { cron: '0 9 * JUL WED' } });
  });
});
