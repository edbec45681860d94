import { expect, test } from '@jest/globals';
import { newId } from '../../../src/base/ids.js';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';

const deps = useDeps();

test('an owner creates a project and changes to another one, by keyboard', async () => {
  verifies('console.projects');
  const owner = await createPerson(deps);
  const name = `Claims ${newId()}`;
  await withPage(
    async (page) => {
      await signIn(page, owner, consoleUrl(owner, '/members'));
      await page.getByRole('button', { name: 'Projects' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'New project…' }).click();
      await page.getByRole('button', { name: 'Create project' }).click();
      await page.getByRole('alert').getByText('Name').waitFor();
      await page.getByLabel('Name', { exact: true }).fill(name);
      await shot(page, 'new-project');
      await page.getByRole('button', { name: 'Create project' }).click();
      await page.getByRole('heading', { name }).waitFor();
      expect(page.url()).not.toContain(owner.workspace.projectID);
      await page.getByRole('button', { name: 'Projects' }).click();
      const former = page.getByRole('menuitem', { name: `project ${owner.workspace.projectID}` });
      await former.waitFor();
      await shot(page, 'projects-menu');
      await former.click();
      await page.waitForURL(consoleUrl(owner));
    },
    { width: 375, height: 812 },
  );
});

test('a member is offered no new project', async () => {
  verifies('console.projects');
  const owner = await createPerson(deps);
  const member = await createPerson(deps, { workspace: owner.workspace, role: 'PROJECT_ADMIN' });
  await withPage(async (page) => {
    await signIn(page, member);
    await page.getByRole('button', { name: 'Projects' }).click();
    await page.getByRole('menuitem', { name: 'All projects' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'New project…' }).count()).toBe(0);
  });
});
