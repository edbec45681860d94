import { expect, test } from '@jest/globals';
import { daysOf, keyOf, rangeOf, runsByDay } from '../../../console/src/schedules/week.js';
import { verifies } from '../../support/verifies.js';

const seconds = (iso: string) => Date.parse(iso) / 1000;

test('a week begins with today in the zone, also when the clocks change', () => {
  verifies('console.schedules.week');
  const now = new Date('2026-10-24T23:30:00Z');
  expect(keyOf(now, 'UTC')).toBe('2026-10-24');
  // Summer time ends in Berlin on this day, which has 25 hours.
  const days = daysOf(0, now, 'Europe/Berlin');
  expect(days.map(({ key }) => key).slice(0, 3)).toEqual(['2026-10-25', '2026-10-26', '2026-10-27']);
  expect(daysOf(1, now, 'Europe/Berlin')[0]?.key).toBe('2026-11-01');
  const { from, to } = rangeOf(days);
  expect(from).toBeLessThan(seconds('2026-10-24T22:00:00Z'));
  expect(to).toBeGreaterThan(seconds('2026-10-31T23:00:00Z'));
});

test('runs are in the day of the zone, in order, and what is not known is said', () => {
  verifies('console.schedules.week');
  const days = daysOf(0, new Date('2026-11-30T12:00:00Z'), 'Asia/Tokyo');
  const late = seconds('2026-11-30T16:00:00Z');
  const runs = runsByDay(
    days,
    [
      { schedule: 'often', times: [late + 60, late + 120], isComplete: false },
      { schedule: 'once', times: [late], isComplete: true },
    ],
    'Asia/Tokyo',
  );
  expect(runs.get('2026-11-30')).toEqual([]);
  expect(runs.get('2026-12-01')).toEqual([
    { schedule: 'once', times: [late], isIncomplete: false },
    { schedule: 'often', times: [late + 60, late + 120], isIncomplete: true },
  ]);
  expect(runs.get('2026-12-02')).toEqual([{ schedule: 'often', times: [], isIncomplete: true }]);
});
