import { expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { newId } from '../../../src/base/ids.js';
import { createPerson } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { seedExecution } from '../../support/seeded-executions.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, violations, withPage } from './chromium.js';

const deps = useDeps();
const isCut = (cell: Locator) => cell.evaluate((element: any) => element.scrollWidth > element.clientWidth);
const widthOf = async (cell: Locator) => Math.round((await cell.boundingBox())?.width ?? 0);

test('columns are as wide as their content needs, and a person changes them with the pointer or the keyboard', async () => {
  verifies('console.columns');
  const person = await createPerson(deps);
  const coworker = { id: newId(), name: 'Nightly ERP import of orders' };
  await seedExecution(deps, { ...person.workspace, userId: person.userId }, { goal: 'order 1', coworker });
  await withPage(
    async (page) => {
      await signIn(page, person, consoleUrl(person, '/runs'));
      const agentflow = page.getByRole('cell', { name: coworker.name });
      await agentflow.waitFor();
      expect(await isCut(agentflow)).toBe(false);
      const handle = page.getByRole('button', { name: 'Resize Agentflow' });
      const fitting = await widthOf(agentflow);
      const box = (await handle.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x - 100, y, { steps: 5 });
      await page.mouse.up();
      expect(await widthOf(agentflow)).toBe(fitting - 100);
      expect(await isCut(agentflow)).toBe(true);
      await page.reload();
      await agentflow.waitFor();
      expect(await widthOf(agentflow)).toBe(fitting - 100);
      await handle.focus();
      await page.keyboard.press('ArrowRight');
      expect(await widthOf(agentflow)).toBe(fitting - 84);
      await handle.dblclick();
      expect(await widthOf(agentflow)).toBe(fitting);
      expect(await violations(page)).toEqual([]);
      await shot(page, 'runs-columns');
    },
    { width: 1440, height: 900 },
  );
});
