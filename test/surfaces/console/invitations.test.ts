import { expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

test('a new person is invited by a link, sets a name and a password, and is in the project', async () => {
  verifies('console.invitations');
  const owner = await createPerson(deps);
  const email = `${newId()}@example.com`;
  const link = await withPage(
    async (page) => {
      await signIn(page, owner, consoleUrl(owner, '/members'));
      await page.getByRole('button', { name: 'Invite…' }).click();
      await page.getByLabel('Email address').fill('grace');
      await page.getByRole('button', { name: 'Create link' }).click();
      await page.getByRole('alert').getByText('Email address').waitFor();
      await page.getByLabel('Email address').fill(email);
      await page.getByRole('checkbox', { name: /^editor/ }).check();
      await shot(page, 'invite');
      await page.getByRole('button', { name: 'Create link' }).click();
      const command = page.getByRole('region', { name: 'Command' });
      const text = (await command.textContent()) ?? '';
      await shot(page, 'invite-link');
      await page.getByRole('button', { name: 'Close' }).click();
      const open = page.getByRole('table', { name: 'Invitations', exact: true });
      await open.getByText(email).waitFor();
      const withdraw = await open.getByRole('button', { name: /^Withdraw/ }).boundingBox();
      expect((withdraw?.x ?? 375) + (withdraw?.width ?? 0)).toBeLessThanOrEqual(375);
      await shot(page, 'members-invitation');
      return text.trim();
    },
    { width: 375, height: 812, dark: true },
  );
  expect(link).toMatch(/\/console\/invitation\?token=svc_inv_/);
  const { pathname, search } = new URL(link);
  await withPage(async (page) => {
    await page.goto(`${testRun().url}${pathname}${search}`);
    await page.getByText('invites you to this project').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(email);
    expect(await violations(page)).toEqual([]);
    await shot(page, 'invitation');
    await page.getByLabel('Your name').fill('Grace');
    await page.getByLabel('Password').fill('a long enough pass phrase');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.waitForURL(consoleUrl(owner));
    await page.getByRole('link', { name: email }).waitFor();
  });
  await withPage(async (page, complaints) => {
    await page.goto(`${testRun().url}${pathname}${search}`);
    await page.getByText('The invitation was used, withdrawn, or has expired').waitFor();
    complaints.splice(0);
    await signIn(page, owner, consoleUrl(owner, '/members'));
    const row = page.getByRole('row').filter({ hasText: email });
    expect(await row.textContent()).toContain('Grace');
    expect(await page.getByRole('region', { name: 'Open invitations' }).count()).toBe(0);
  });
});

test('an invitation is withdrawn after a confirmation, and its link ends', async () => {
  verifies('console.invitations');
  const owner = await createPerson(deps);
  const email = `${newId()}@example.com`;
  await withPage(async (page, complaints) => {
    await signIn(page, owner, consoleUrl(owner, '/members?ask=invite'));
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Create link' }).click();
    const link = new URL(((await page.getByRole('region', { name: 'Command' }).textContent()) ?? '').trim());
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: `Withdraw the invitation of ${email}…` }).click();
    await page.getByRole('button', { name: 'Withdraw invitation' }).click();
    await page.getByRole('region', { name: 'Open invitations' }).waitFor({ state: 'detached' });
    await page.goto(`${testRun().url}${link.pathname}${link.search}`);
    await page.getByText('The invitation was used, withdrawn, or has expired').waitFor();
    complaints.splice(0);
  });
});
