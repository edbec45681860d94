import { beforeAll, expect, test } from '@jest/globals';
import { coworkerRunId } from '../../../workflows/coworker-run/messages.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { eventually } from '../../support/eventually.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { coworker, fired, runsOf, scheduled, soon } from '../platform/schedules/schedules.js';
import { tabTo } from '../../support/browser.js';
import { consoleUrl, screenshots, shot, signIn, withPage } from './chromium.js';
import { signedInConsole } from './console-browser.js';

const deps = useDeps();
beforeAll(() => console.log(`screenshots in ${screenshots()}`));

const shownTime = (at: number) => `${new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

async function scheduleOf({ workspace }: Person, body: object): Promise<any> {
  return scheduled(workspace, { coworker_id: await coworker(workspace), ...body });
}

test('schedules are listed with their next runs, and link to their runs, executions and the Temporal UI', async () => {
  verifies('console.schedules');
  const person = await createPerson(deps);
  const cron = await scheduleOf(person, {
    goal: 'Brief <b>the team</b>',
    type: 'cron',
    frequency: { cron: '0 9 * * 1-5', time_zone: 'Europe/Oslo' },
  });
  const once = await scheduleOf(person, { goal: 'Only once', type: 'once', schedule: soon(10) });
  const run = await eventually(async () => {
    const [first] = fired(await runsOf(person.workspace, once._id));
    expect(first).toMatchObject({
      status: 'completed',
      temporal_ui_url: expect.stringContaining(encodeURIComponent(coworkerRunId(once._id))),
    });
    return first;
  });
  const { next } = await runsOf(person.workspace, cron._id);
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/schedules'));
    const rows = page.locator('[data-part=list] .rows > li');
    expect(await rows.count()).toBe(2);
    const weekday = rows.filter({ hasText: 'Brief <b>the team</b>' });
    for (const text of ['active', '0 9 * * 1-5', 'Europe/Oslo', ...next.slice(0, 3).map(shownTime)])
      expect(await weekday.textContent()).toContain(text);
    expect(await weekday.getByRole('link', { name: 'Schedule in the Temporal UI' }).getAttribute('href')).toBe(
      deps.temporal.scheduleUiLink(`schedule/${cron._id}`),
    );
    const done = rows.filter({ hasText: 'Only once' });
    expect(await done.getByRole('link', { name: 'Last run in the Temporal UI' }).getAttribute('href')).toBe(
      run.temporal_ui_url,
    );
    await shot(page, 'schedules');
    await page.getByRole('link', { name: 'Brief <b>the team</b>', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Brief <b>the team</b>' }).waitFor();
    expect(await page.locator('[data-part=next] li').allTextContents()).toEqual(next.map(shownTime));
    await page.goto(consoleUrl(person, `/schedules/${once._id}`));
    expect(await page.getByRole('link', { name: 'Run in the Temporal UI' }).getAttribute('href')).toBe(
      run.temporal_ui_url,
    );
    await shot(page, 'schedule-completed');
    await page.getByRole('link', { name: run.executions[0].execution_id }).click();
    await page.getByRole('heading', { name: 'Only once' }).waitFor();
  });
});

test('a schedule is paused with a reason and resumed by keyboard', async () => {
  verifies('console.schedules', 'console.accessible');
  const person = await createPerson(deps);
  const { _id: id } = await scheduleOf(person, { goal: 'Every hour', type: 'interval', frequency: 3600 });
  const stored = async () => (await person.workspace.api.get(`/schedule/coworker/${id}`)).body;
  await withPage(async (page) => {
    await signIn(page, person);
    await tabTo(page, 'Schedules');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
    await tabTo(page, 'Every hour');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Every hour' }).waitFor();
    expect(await page.locator('[data-part=next] li').count()).toBe(10);
    await tabTo(page, 'Reason (optional)');
    await page.keyboard.type('the source is being moved');
    await tabTo(page, 'Pause');
    await page.keyboard.press('Enter');
    await page.getByText('Paused: nothing starts').waitFor();
    expect(await stored()).toMatchObject({ status: 'paused', reason: 'the source is being moved' });
    expect(await page.locator('main').textContent()).toContain('the source is being moved');
    expect(await page.locator('[data-part=next]').textContent()).toContain('none');
    await shot(page, 'schedule-paused');
    await tabTo(page, 'Resume');
    await page.keyboard.press('Enter');
    await page.getByText('Resumed.').waitFor();
    expect(await stored()).toMatchObject({ status: 'active', reason: null });
  });
});

test('a member sees no schedules, another project has none of them, and a transition that is not allowed is refused', async () => {
  verifies('console.schedules', 'console.sign-in');
  const person = await createPerson(deps);
  const { _id: id } = await scheduleOf(person, { goal: 'Only once', type: 'once', schedule: soon(10) });
  await eventually(async () =>
    expect((await person.workspace.api.get(`/schedule/coworker/${id}`)).body.status).toBe('completed'),
  );
  const client = await signedInConsole(person);
  const refused = await client.send(`${client.base}/schedules/${id}/resume`);
  expect(refused.status).toBe(409);
  expect(refused.html).toContain('role="alert">The schedule is completed');
  expect((await client.open(`${client.base}/schedules/${id}`)).html).not.toContain('id="move"');
  for (const path of [`/schedules/${id}/delete`, '/schedules/nothing/pause'])
    expect([path, (await client.send(client.base + path)).status]).toEqual([path, 404]);
  const member = await signedInConsole(await createPerson(deps, { role: 'MEMBER', workspace: person.workspace }));
  for (const path of ['/schedules', `/schedules/${id}`])
    expect((await member.open(member.base + path)).status).toBe(403);
  expect((await member.send(`${member.base}/schedules/${id}/pause`)).status).toBe(403);
  const foreign = await signedInConsole(await createPerson(deps, { workspace: await createWorkspace(deps) }));
  expect((await foreign.open(`${foreign.base}/schedules/${id}`)).status).toBe(404);
  expect((await foreign.open(`${foreign.base}/schedules`)).html).toContain('Nothing is scheduled in this project.');
});

test('planned times that did not fire are shown with the reason, and a long list has pages', async () => {
  verifies('console.schedules');
  const person = await createPerson(deps);
  const coworker_id = await coworker(person.workspace);
  const { _id: id } = await scheduled(person.workspace, { coworker_id, goal: 'Often', type: 'interval', frequency: 1 });
  await person.workspace.api.patch(`/schedule/coworker/${id}`, { status: 'paused' });
  for (let at = 1; at <= 10; at += 1)
    await scheduled(person.workspace, { coworker_id, goal: `Later ${at}`, type: 'once', schedule: soon(3600) });
  await eventually(async () =>
    expect((await runsOf(person.workspace, id)).data[0]).toMatchObject({ status: 'skipped', reason: 'paused' }),
  );
  const client = await signedInConsole(person);
  expect((await client.open(`${client.base}/schedules/${id}`)).html).toMatch(
    /skipped[\s\S]*Why it did not fire[\s\S]*paused/,
  );
  const newest = (await client.open(`${client.base}/schedules`)).html;
  expect(newest).toContain('10 of 11 shown.');
  expect(newest).not.toContain('>Often<');
  const older = /href="([^"]+cursor=[^"]+)"/.exec(newest)?.[1] ?? '';
  expect((await client.open(older)).html).toContain('>Often<');
});
