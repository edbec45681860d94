import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';
import { signedInConsole } from './console-browser.js';

const deps = useDeps();
const nextPassword = 'another long pass phrase';

test('people change their own name, password and theme', async () => {
  verifies('console.profile');
  const person = await createPerson(deps);
  await withPage(async (page, complaints) => {
    await signIn(page, person);
    await page.getByRole('link', { name: person.email }).click();
    await page.getByRole('heading', { name: 'Your profile' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Grace Hopper');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save', disabled: true }).waitFor();

    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('alert').getByText('New password').waitFor();
    await page.getByLabel('New password').fill(nextPassword);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('alert').getByText('current_password is wrong', { exact: false }).waitFor();
    await page.getByLabel('Current password').fill(person.password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password was changed').waitFor();
    complaints.splice(0);

    const background = () =>
      page.evaluate(() => (globalThis as any).getComputedStyle((globalThis as any).document.body).backgroundColor);
    const light = await background();
    await shot(page, 'profile');
    await page.getByLabel('Theme').selectOption('Dark');
    expect(await background()).not.toBe(light);
    await page.reload();
    await page.getByRole('heading', { name: 'Your profile' }).waitFor();
    await page.getByLabel('Name', { exact: true }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Grace Hopper');
    expect(await background()).not.toBe(light);
    await shot(page, 'profile-dark');
    await page.getByLabel('Theme').selectOption('As the system');
    expect(await background()).toBe(light);
  });
  // The new password signs in.
  await signedInConsole({ ...person, password: nextPassword });
});

test('times are shown in the zone that a person chooses, and the profile is reached on a phone', async () => {
  verifies('console.time-zone');
  const person = await createPerson(deps);
  await bearerClient(person.workspace.apiKey).post('/v1/orchestrate', { operation: 'list' });
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/lifecycles'));
      const title = () => page.getByRole('table', { name: 'Lifecycles' }).locator('time').first().getAttribute('title');
      expect(await title()).toMatch(/day, .* UTC; .* UTC$/);
      await page.getByRole('link', { name: 'Profile' }).click();
      await page.getByRole('heading', { name: 'Your profile' }).waitFor();
      await page.getByLabel('Time zone').selectOption('Asia/Tokyo');
      await shot(page, 'profile-phone');
      await page.goto(consoleUrl(person, '/lifecycles'));
      expect(await title()).toMatch(/day, .* GMT\+9; .* UTC$/);
      // Another program wrote it.
      await page.evaluate(() => (globalThis as any).localStorage.setItem('console.time-zone', 'Mars/Olympus'));
      await page.reload();
      expect(await title()).toMatch(/day, .* UTC; .* UTC$/);
    },
    { width: 375, timezone: 'UTC' },
  );
});

test('people see where they are signed in, and end one session or all others', async () => {
  verifies('console.sessions');
  const person = await createPerson(deps);
  const signInAs = async (agent: string) => {
    const response = await fetch(`${testRun().url}/v1/auth/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': agent },
      body: JSON.stringify({ email: person.email, password: person.password }),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    return bearerClient(access_token);
  };
  const phone = await signInAs('Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0');
  const [script, tablet] = [await signInAs('python-httpx/0.28 <b>'), await signInAs('')];
  const status = async (client: typeof phone) => (await client.get('/v1/auth/profile')).status;
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, '/profile'));
    const list = page.getByRole('list', { name: 'Sessions' });
    await list
      .getByRole('listitem')
      .filter({ hasText: '(this session)' })
      .getByText(/^Chrome on /)
      .waitFor();
    for (const name of ['Firefox on Android', 'python-httpx', 'Unknown program'])
      await list.getByRole('listitem').filter({ hasText: name }).getByText('last used').waitFor();
    await shot(page, 'profile-sessions');
    await page.getByRole('button', { name: 'End the session of Firefox on Android…' }).click();
    await page.getByRole('button', { name: 'End session' }).click();
    await list.getByText('Firefox on Android').waitFor({ state: 'detached' });
    expect([await status(phone), await status(script)]).toEqual([401, 200]);
    await page.getByRole('button', { name: 'End all others…' }).click();
    await page.getByRole('button', { name: 'End other sessions' }).click();
    await list.getByText('python-httpx').waitFor({ state: 'detached' });
    expect([await status(script), await status(tablet)]).toEqual([401, 401]);
    expect(await list.getByRole('listitem').count()).toBe(1);
    await page.reload();
    await page.getByRole('heading', { name: 'Your profile' }).waitFor();
  });
});
