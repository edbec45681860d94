import { expect, test } from '@jest/globals';
import { coworkerRunId } from '../../../workflows/coworker-run/messages.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { coworker, fired, runsOf, scheduled, soon } from '../platform/schedules/schedules.js';
import { tabTo, shot } from '../../support/browser.js';
import { consoleUrl, failRequests, refuseOlderPage, signIn, withPage } from './chromium.js';
import { asPage } from './console-browser.js';

const deps = useDeps();

async function scheduleOf({ workspace }: Person, body: object): Promise<any> {
  return scheduled(workspace, { coworker_id: await coworker(workspace), ...body });
}

test('schedules are listed with a calendar, and link to their runs, executions and the Temporal UI', async () => {
  verifies('console.schedules');
  const person = await createPerson(deps);
  const cron = await scheduleOf(person, {
    goal: 'Brief <b>the team</b>',
    type: 'cron',
    frequency: { cron: '0 9 * * *', time_zone: 'Europe/Oslo' },
    limit: 40,
  });
  const once = await scheduleOf(person, { goal: 'Only once', type: 'once', schedule: soon(10) });
  const run = await eventually(async () => {
    const [first] = fired(await runsOf(person.workspace, once._id));
    expect(first).toMatchObject({ status: 'completed' });
    return first;
  });
  expect(run.temporal_ui_url).toContain(encodeURIComponent(coworkerRunId(once._id)));
  const { next } = await runsOf(person.workspace, cron._id);
  await withPage(async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await signIn(page, person, consoleUrl(person, '/schedules'));
    await page.getByText('2 schedules').waitFor();
    const daily = page.getByRole('region', { name: 'List of schedules' }).getByRole('row').filter({ hasText: 'Brief' });
    for (const text of ['active', '0 9 * * * in Europe/Oslo', '0 of 40', 'Skip']) await daily.getByText(text).waitFor();
    await daily.locator(`time[datetime="${new Date(next[0] * 1000).toISOString()}"]`).waitFor();
    expect(await daily.getByRole('link', { name: /Temporal UI/ }).getAttribute('href')).toBe(
      deps.temporal.scheduleUiLink(`schedule/${cron._id}`),
    );
    const calendar = page.getByRole('region', { name: 'Calendar of upcoming runs' });
    await calendar.locator(`time[datetime="${new Date(next[1] * 1000).toISOString()}"]`).waitFor();
    expect(await calendar.locator('time').first().getAttribute('title')).toMatch(/ UTC$/);
    // One request lists the schedules with their times, however many there are.
    expect(asked.filter((path) => path.startsWith('/schedule/coworker/'))).toEqual([]);
    await page.getByRole('button', { name: 'Next week' }).click();
    await calendar.locator(`time[datetime="${new Date(next[8] * 1000).toISOString()}"]`).waitFor();
    await shot(page, 'schedules');
    await page.getByRole('link', { name: 'Only once' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Only once' }).waitFor();
    const link = page.getByRole('link', { name: 'Run in the Temporal UI' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe(run.temporal_ui_url);
    await shot(page, 'schedule-completed');
    await page.getByRole('link', { name: 'Open run' }).click();
    await page.getByRole('heading', { name: 'Only once' }).waitFor();
  });
});

test('a schedule is paused with a reason, resumed, triggered and deleted by keyboard', async () => {
  verifies('console.schedules', 'console.accessible');
  const person = await createPerson(deps);
  const { _id: id } = await scheduleOf(person, { goal: 'Every hour', type: 'interval', frequency: 3600 });
  const stored = async () => (await person.workspace.api.get(`/schedule/coworker/${id}`)).body;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/schedules/${id}`));
    await page.getByRole('list', { name: 'Next runs' }).waitFor();
    expect(await page.getByRole('list', { name: 'Next runs' }).getByRole('listitem').count()).toBe(10);
    const ask = async (name: string) => {
      await tabTo(page, `${name}…`);
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
    };
    await ask('Pause');
    await page.keyboard.type('the source is being moved');
    await page.keyboard.press('Enter');
    await page.getByText('Paused. No runs start').waitFor();
    expect(await stored()).toMatchObject({ status: 'paused', reason: 'the source is being moved' });
    await page.getByRole('definition').filter({ hasText: 'the source is being moved' }).waitFor();
    await page.getByText('No upcoming runs.').waitFor();
    await shot(page, 'schedule-paused');
    await ask('Trigger now');
    await tabTo(page, 'Trigger schedule');
    await page.keyboard.press('Enter');
    await page.getByText('Triggered. A run starts now.').waitFor();
    await page.getByRole('region', { name: 'Past runs' }).getByText('completed').first().waitFor();
    await ask('Resume');
    await tabTo(page, 'Resume schedule');
    await page.keyboard.press('Enter');
    await page.getByText('Resumed.').waitFor();
    expect(await stored()).toMatchObject({ status: 'active', reason: null, count: 1 });
    await ask('Delete');
    expect((await stored()).status).toBe('active');
    await tabTo(page, 'Delete schedule');
    await page.keyboard.press('Enter');
    await page.getByText('This project has no schedules yet.').waitFor();
    await page.getByRole('region', { name: 'Command' }).waitFor();
  });
  expect((await person.workspace.api.get(`/schedule/coworker/${id}`)).status).toBe(404);
});

test('a backfill shows its times before it is sent, and a wrong range is explained at its field', async () => {
  verifies('console.schedules.backfill', 'schedule.times');
  const person = await createPerson(deps);
  const hour = Math.floor(Date.now() / 3_600_000) * 3600;
  const { _id: id } = await scheduleOf(person, {
    goal: 'Every hour',
    type: 'cron',
    frequency: '0 * * * *',
    schedule: hour - 5 * 3600,
  });
  await person.workspace.api.patch(`/schedule/coworker/${id}`, { status: 'paused' });
  const local = (at: number) => new Date(at * 1000).toISOString().slice(0, 19);
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, `/schedules/${id}`));
      const open = () => page.getByRole('button', { name: 'Backfill…' }).click();
      const show = () => page.getByRole('button', { name: 'Preview' }).click();
      await open();
      await page.getByRole('textbox', { name: 'From' }).fill(local(hour - 2 * 3600));
      await page.getByRole('textbox', { name: 'To' }).fill(local(hour - 3 * 3600));
      await show();
      await page.getByRole('alert').getByText('From must be before to').waitFor();
      await page.reload();
      await open();
      // The browser omits seconds that are zero.
      expect(local(hour - 3 * 3600)).toContain(await page.getByRole('textbox', { name: 'To' }).inputValue());
      await page.getByRole('textbox', { name: 'To' }).fill(local(hour - 3600));
      await show();
      await page.getByText('2 runs would start.').waitFor();
      await shot(page, 'backfill');
      expect(fired(await runsOf(person.workspace, id))).toEqual([]);
      await page.getByRole('button', { name: 'Start 2 runs' }).click();
      await page.getByText('Backfill started: 2 runs.').waitFor();
      await eventually(async () => expect(fired(await runsOf(person.workspace, id))).toHaveLength(2));
      await open();
      await page.getByRole('textbox', { name: 'From' }).fill(local(hour - 2 * 3600));
      await page.getByRole('textbox', { name: 'To' }).fill(local(hour - 3600));
      await show();
      await page.getByText('0 runs would start, 2 already started.').waitFor();
    },
    { timezone: 'UTC' },
  );
});

test('a schedule is made and changed; a wrong value is explained at its field, and nothing typed is lost', async () => {
  verifies('console.schedules.form');
  const person = await createPerson(deps);
  await coworker(person.workspace);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/schedules/new'));
    const save = () => page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByLabel('Agentflow').selectOption({ index: 1 });
    await page.getByRole('textbox', { name: 'Goal' }).fill('Brief {{ row.name');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 99 * * *');
    await page.getByRole('textbox', { name: 'Limit' }).fill('many');
    await save();
    await page.getByText('Limit must be an integer').waitFor();
    await page.getByRole('textbox', { name: 'Limit' }).fill('7');
    await save();
    await page
      .getByText('Goal is not a valid Liquid template')
      .or(page.getByText('Cron expression Constraint'))
      .waitFor();
    await page.reload();
    expect(await page.getByRole('textbox', { name: 'Cron expression' }).inputValue()).toBe('0 99 * * *');
    expect(await page.getByRole('textbox', { name: 'Goal' }).inputValue()).toBe('Brief {{ row.name');
    await page.getByRole('textbox', { name: 'Goal' }).fill('Brief the team');
    await save();
    await page.getByText(/^Cron expression .*/).waitFor();
    await shot(page, 'schedule-form');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 9 * * *');
    await save();
    await page.getByRole('heading', { level: 1, name: 'Brief the team' }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Type').selectOption('interval');
    await page.getByRole('textbox', { name: 'Interval' }).fill('600');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('every 10 minutes').waitFor();
  });
  const { body } = await person.workspace.api.get('/schedule/coworker');
  expect(body.data).toMatchObject([{ goal: { template: 'Brief the team' }, frequency: 600, limit: 7 }]);
});

test('a schedule is made for days of a calendar until an end, and described in words', async () => {
  verifies('console.schedules.form', 'schedule.calendar');
  const person = await createPerson(deps);
  await coworker(person.workspace);
  const [created] = await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/schedules/new'));
      await page.getByLabel('Agentflow').selectOption({ index: 1 });
      await page.getByRole('textbox', { name: 'Goal' }).fill('Close the month');
      await page.getByLabel('Type').selectOption('calendar');
      await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Oslo');
      await page.getByRole('textbox', { name: 'Times of day' }).fill('9 o’clock');
      await page.getByRole('combobox', { name: 'Days', exact: true }).selectOption('days_of_month');
      await page.getByRole('textbox', { name: 'Days of the month' }).fill('-1, 32');
      const save = () => page.getByRole('button', { name: 'Create schedule' }).click();
      await save();
      await page.getByRole('alert').getByText('Times of day must be a time of day').waitFor();
      await page.getByRole('alert').getByText('Days of the month must be an integer').waitFor();
      await shot(page, 'schedule-calendar-form');
      await page.getByRole('textbox', { name: 'Times of day' }).fill('09:00');
      await page.getByRole('textbox', { name: 'Days of the month' }).fill('-1');
      await page.getByRole('textbox', { name: 'End' }).fill('2001-01-01T00:00:00');
      await save();
      await page.getByRole('alert').getByText('End must be in the future').waitFor();
      await page.getByRole('textbox', { name: 'End' }).fill('2090-01-01T00:00:00');
      await save();
      await page.getByText('The last day of each month at 09:00, Europe/Oslo').waitFor();
      await page.getByRole('definition').locator('time[datetime="2090-01-01T00:00:00.000Z"]').waitFor();
      const { body } = await person.workspace.api.get('/schedule/coworker');
      await page.getByRole('link', { name: 'Edit' }).click();
      expect(await page.getByRole('textbox', { name: 'Days of the month' }).inputValue()).toBe('-1');
      await page.getByRole('combobox', { name: 'Days', exact: true }).selectOption('nth_weekdays');
      await page.getByRole('button', { name: 'Add a weekday' }).click();
      await page.getByRole('combobox', { name: 'Which' }).nth(0).selectOption({ label: 'Second' });
      await page.getByRole('combobox', { name: 'Weekday', exact: true }).nth(0).selectOption({ label: 'Tuesday' });
      await page.getByRole('combobox', { name: 'Which' }).nth(1).selectOption({ label: 'Last' });
      await page.getByRole('checkbox', { name: 'March' }).check();
      await page.getByRole('checkbox', { name: 'January' }).check();
      await page.getByRole('textbox', { name: 'End' }).fill('');
      await page.getByRole('button', { name: 'Save' }).click();
      const words = 'The second Tuesday and the last Monday of January and March at 09:00, Europe/Oslo';
      await page.getByText(words).waitFor();
      await page.goto(consoleUrl(person, '/schedules'));
      await page.getByRole('region', { name: 'List of schedules' }).getByText(words).waitFor();
      return body.data;
    },
    { timezone: 'UTC' },
  );
  expect(created).toMatchObject({ ends_at: Date.UTC(2090) / 1000, frequency: { days_of_month: [-1] } });
  const { body } = await person.workspace.api.get('/schedule/coworker');
  expect(body.data).toMatchObject([
    {
      type: 'calendar',
      frequency: {
        time_zone: 'Europe/Oslo',
        times: ['09:00'],
        nth_weekdays: [
          { weekday: 'tuesday', nth: 2 },
          { weekday: 'monday', nth: -1 },
        ],
        months: [1, 3],
      },
      ends_at: null,
    },
  ]);
});

test('planned times that did not fire are shown with the reason, and a long list has pages', async () => {
  verifies('console.schedules');
  const person = await createPerson(deps);
  const coworker_id = await coworker(person.workspace);
  const { _id: id } = await scheduled(person.workspace, { coworker_id, goal: 'Often', type: 'interval', frequency: 1 });
  await person.workspace.api.patch(`/schedule/coworker/${id}`, { status: 'paused' });
  await eventually(async () =>
    expect((await runsOf(person.workspace, id)).data[0]).toMatchObject({ status: 'skipped', reason: 'paused' }),
  );
  const stored = (await deps.mongo.collections.schedules.findOne({ _id: id })) as any;
  await deps.mongo.collections.schedules.insertMany(
    Array.from({ length: 25 }, (_, at) => ({
      ...stored,
      _id: `ffffffff-0000-7000-8000-0000000000${10 + at}`.replace('ffffffff', person.workspace.projectID.slice(0, 8)),
      goal: { template: `Later ${at}`, display_template: '[]' },
    })),
  );
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, `/schedules/${id}`));
    await page.getByRole('row').filter({ hasText: 'the schedule was paused' }).first().getByText('skipped').waitFor();
    await refuseOlderPage(page, /\/runs\?/, 'the store is away');
    await page.reload();
    await page.getByRole('button', { name: 'Load more' }).click();
    const problem = page.getByRole('alert').getByText('The store is away');
    await problem.waitFor();
    // The newest runs are read again, which does not hide why older ones are missing.
    await page.waitForResponse((answer) => answer.ok() && answer.url().includes(`/${id}/runs?`));
    expect(await problem.count()).toBe(1);
    await page.unrouteAll();
    complaints.splice(0);
    await page.goto(consoleUrl(person, '/schedules'));
    await page.getByText('26 schedules').waitFor();
    // A change that is reported before the next page arrives does not stop the list from loading it.
    const held = new Promise<() => void>((hold) => {
      void page.route(
        ({ pathname, searchParams }) => pathname === '/schedule/coworker' && searchParams.has('cursor'),
        (route) => hold(() => void route.continue()),
      );
    });
    await page.getByRole('button', { name: 'Load more' }).click();
    const release = await held;
    // The tabs share the events.
    const tab = await page.context().newPage();
    await tab.goto(consoleUrl(person, `/schedules/${id}`));
    await tab.getByText('paused', { exact: false }).first().waitFor();
    const newsRead = tab.waitForRequest((request) => request.url().includes(`/schedule/coworker/${id}`));
    await person.workspace.api.patch(`/schedule/coworker/${id}`, { status: 'active' });
    await newsRead;
    release();
    await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('rowheader').count()).toBe(26);
  });
  // Otherwise, it would fire every second for the rest of the run.
  expect(await person.workspace.api.delete(`/schedule/coworker/${id}`)).toMatchObject({ status: 200 });
});

test('a member is offered no schedules and is refused, another project has none, and failures are shown', async () => {
  verifies('console.schedules', 'console.sign-in');
  const person = await createPerson(deps);
  const { _id: id } = await scheduleOf(person, { goal: 'Every hour', type: 'interval', frequency: 3600 });
  const member = await createPerson(deps, { role: 'MEMBER', workspace: person.workspace });
  await withPage(async (page) => {
    await signIn(page, member, consoleUrl(member, `/schedules/${id}`));
    await page.getByText('It requires a role that reads the project').waitFor();
    expect(await page.getByRole('link', { name: 'Schedules' }).count()).toBe(0);
    const api = (await asPage(member)).client();
    for (const [method, path] of [
      ['get', '/schedule/coworker'],
      ['get', `/schedule/coworker/${id}/times?from=0&to=1`],
      ['post', `/schedule/coworker/${id}/trigger`],
      ['delete', `/schedule/coworker/${id}`],
    ] as const)
      expect([path, (await api[method](path, {})).status]).toEqual([path, 403]);
  });
  const foreign = await createPerson(deps, { workspace: await createWorkspace(deps) });
  await withPage(async (page) => {
    await signIn(page, foreign, consoleUrl(foreign, `/schedules/${id}`));
    await page.getByRole('alert').getByText('The schedule was not found').waitFor();
  });
  await withPage(async (page, complaints) => {
    await signIn(page, person, consoleUrl(person, '/schedules'));
    await page.getByText('1 schedule', { exact: true }).waitFor();
    const recover = await failRequests(page, /\/schedule\/coworker/, 503, 'the workflow service does not answer');
    await page.reload();
    await page.getByRole('alert').getByText('The workflow service does not answer').first().waitFor();
    await shot(page, 'schedules-failing');
    await recover();
    await page.getByText('1 schedule', { exact: true }).waitFor();
    complaints.splice(0);
  });
});
