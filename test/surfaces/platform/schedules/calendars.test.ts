import { describe, expect, test } from '@jest/globals';
import { plannedBetween } from '../../../../src/domain/schedules/planned-times.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { coworker, scheduled } from './schedules.js';

const deps = useDeps();

/** The times at which the Temporal Schedule of a cron expression fires. */
async function firings(cron: string, time_zone: string, from: string, to: string): Promise<string[]> {
  const workspace = await createWorkspace(deps);
  const { _id } = await scheduled(workspace, {
    coworker_id: await coworker(workspace),
    type: 'cron',
    frequency: { cron, time_zone },
    schedule: 0,
  });
  const seconds = (text: string) => Date.parse(text) / 1000;
  const times = await plannedBetween(deps.temporal, _id, seconds(from), seconds(to));
  return times.map((at) => new Date(at * 1000).toISOString().replace(':00.000Z', 'Z'));
}

describe('a cron expression', () => {
  test('keeps its local time across both clock changes', async () => {
    verifies('schedule.cron');
    // Oslo: forward on 29 March 2026, back on 25 October 2026.
    expect(await firings('0 9 * * *', 'Europe/Oslo', '2026-03-28T00:00Z', '2026-03-30T12:00Z')).toEqual([
      '2026-03-28T08:00Z',
      '2026-03-29T07:00Z',
      '2026-03-30T07:00Z',
    ]);
    expect(await firings('0 9 * * *', 'Europe/Oslo', '2026-10-24T00:00Z', '2026-10-26T12:00Z')).toEqual([
      '2026-10-24T07:00Z',
      '2026-10-25T08:00Z',
      '2026-10-26T08:00Z',
    ]);
  });

  test('does not fire in an hour that a clock change skips', async () => {
    verifies('schedule.cron');
    const spring = await firings('30 2 * * *', 'Europe/Oslo', '2026-03-28T00:00Z', '2026-03-31T00:00Z');
    expect(spring).toEqual(['2026-03-28T01:30Z', '2026-03-30T00:30Z']);
  });

  test('fires in an hour that a clock change repeats as the guide says', async () => {
    verifies('schedule.cron');
    // Oslo repeats 02:00 to 03:00 on 25 October 2026, New York 01:00 to 02:00 on 1 November 2026.
    const oslo = (cron: string) => firings(cron, 'Europe/Oslo', '2026-10-24T23:00Z', '2026-10-25T02:00Z');
    expect(await oslo('30 2 * * *')).toEqual(['2026-10-25T01:30Z']);
    expect(await oslo('0 * * * *')).toEqual(['2026-10-25T00:00Z', '2026-10-25T02:00Z']);
    const newYork = await firings('30 1 * * *', 'America/New_York', '2026-11-01T00:00Z', '2026-11-02T00:00Z');
    expect(newYork).toEqual(['2026-11-01T05:30Z', '2026-11-01T06:30Z']);
  });

  test('fires only on its weekdays if none of its months has its day', async () => {
    verifies('schedule.cron');
    expect(await firings('0 9 30 2 1', 'UTC', '2026-01-01T00:00Z', '2026-03-10T00:00Z')).toEqual([
      '2026-02-02T09:00Z',
      '2026-02-09T09:00Z',
      '2026-02-16T09:00Z',
      '2026-02-23T09:00Z',
    ]);
  });

  test('supports the 29th of February and the 31st', async () => {
    verifies('schedule.cron');
    expect(await firings('0 12 29 2 *', 'UTC', '2027-01-01T00:00Z', '2033-01-01T00:00Z')).toEqual([
      '2028-02-29T12:00Z',
      '2032-02-29T12:00Z',
    ]);
    expect(await firings('0 12 31 * *', 'UTC', '2026-01-01T00:00Z', '2026-08-01T00:00Z')).toEqual([
      '2026-01-31T12:00Z',
      '2026-03-31T12:00Z',
      '2026-05-31T12:00Z',
      '2026-07-31T12:00Z',
    ]);
  });

  test('with a day of the month and a day of the week fires on either', async () => {
    verifies('schedule.cron');
    expect(await firings('0 9 13 * 5', 'UTC', '2027-01-01T00:00Z', '2027-01-16T00:00Z')).toEqual([
      '2027-01-01T09:00Z',
      '2027-01-08T09:00Z',
      '2027-01-13T09:00Z',
      '2027-01-15T09:00Z',
    ]);
  });

  test('uses its time zone, given in the expression or in a separate field', async () => {
    const workspace = await createWorkspace(deps);
    const { frequency } = await scheduled(workspace, {
      coworker_id: await coworker(workspace),
      type: 'cron',
      frequency: 'CRON_TZ=America/New_York 0 9 * * 1-5',
    });
    expect(frequency).toEqual({ cron: '0 9 * * 1-5', time_zone: 'America/New_York' });
  });
});
