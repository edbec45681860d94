import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();

const others = (page: Page) => page.getByRole('status', { name: 'Who else is editing' });

/** What happens when a person comes back to a window that was hidden. */
const wake = (page: Page) =>
  page.evaluate(() => {
    const { document, Event } = globalThis as any;
    document.dispatchEvent(new Event('visibilitychange'));
  });

test('the editor of an agentflow names who else has it open, until they leave', async () => {
  verifies('console.agentflows.editors');
  const ines = await createPerson(deps);
  const { workspace } = ines;
  const jonas = await createPerson(deps, { role: 'EDITOR', workspace });
  const viewer = await createPerson(deps, { role: 'VIEWER', workspace });
  const { body } = await workspace.api.post('/agentflow', { name: 'Refunds', agents: [{ _id: 'a', title: 'Reader' }] });
  const address = `/agentflows/${body._id}`;
  const { agentflow_editors: editors } = deps.mongo.collections;
  await withPage(async (first) => {
    await signIn(first, ines, consoleUrl(ines, address));
    await eventually(async () => expect(await editors.countDocuments({ agentflow_id: body._id })).toBe(1));
    await withPage(async (second) => {
      await signIn(second, jonas, consoleUrl(jonas, address));
      await others(second).getByText(ines.email.toLowerCase()).waitFor();
      await others(second).getByText('also has this agentflow open').waitFor();
      // Another window of the same person names nobody.
      const third = await first.context().newPage();
      await third.goto(consoleUrl(ines, address));
      await others(third).getByText(jonas.email.toLowerCase()).waitFor();
      expect(await others(third).getByText(ines.email.toLowerCase()).count()).toBe(0);
      await third.close();
      await second.getByRole('textbox', { name: 'Description', exact: true }).fill('Pays money back');
      await others(first).getByText('is also editing this agentflow').waitFor();
      await others(first).getByText('with unsaved changes').waitFor();
      await shot(first, 'agentflow-other-editors');
      expect(await violations(first)).toEqual([]);
      // The computer of Jonas slept for longer than a minute, and wakes.
      await editors.updateMany({ user_id: jonas.userId }, { $set: { expires_at: new Date(0) } });
      await wake(second);
      await eventually(async () =>
        expect(
          await editors.countDocuments({ user_id: jonas.userId, has_changes: true, expires_at: { $gt: new Date() } }),
        ).toBe(1),
      );
      const closed = second.waitForRequest((request) => request.postData()?.includes('"closed"') === true);
      await second.getByRole('link', { name: 'Agentflows', exact: true }).first().click();
      await closed;
      await others(first).getByText(jonas.email.toLowerCase()).waitFor({ state: 'detached' });
      await second.goto(consoleUrl(jonas, address));
      await others(first).getByText(jonas.email.toLowerCase()).waitFor();
    });
    // The window of Jonas is gone without a word, and its time ends.
    await editors.updateMany({ user_id: jonas.userId }, { $set: { expires_at: new Date(0) } });
    await others(first).getByText(jonas.email.toLowerCase()).waitFor({ state: 'detached' });
    await withPage(async (page) => {
      await signIn(page, viewer, consoleUrl(viewer, address));
      await page.getByText('You can read this agentflow, but not change it.').waitFor();
      expect(await others(page).count()).toBe(0);
      expect(await editors.countDocuments({ user_id: viewer.userId })).toBe(0);
    });
  });
});
