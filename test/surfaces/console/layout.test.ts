import { beforeAll, expect, test } from '@jest/globals';
import { appPaths } from '../../../src/surfaces/console/app-pages.js';
import type { Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, withPage } from './chromium.js';
import { layoutFaults } from './layout.js';
import { projectWithEverything, type PageCase } from './pages.js';
import { addressOf, untilFilled, visitPages } from './visit-pages.js';

const deps = useDeps();
let person: Person;
let pages: readonly PageCase[];

/** Every page of the app. A page that has no case of its own is opened by its path. */
beforeAll(async () => {
  const made = await projectWithEverything(deps);
  const known = new Set(made.pages.map((page) => page.path));
  const others = appPaths.filter((path) => !known.has(path)).map((path) => ({ name: path.slice(1), path, filled: '' }));
  ({ person } = made);
  pages = [...made.pages, ...others];
});

test.each([
  { width: 1440, dark: false },
  { width: 375, dark: true },
])('the layout of every page is in order at $width px', async ({ width, dark }) => {
  verifies('console.layout');
  await withPage(
    async (first, complaints) => {
      await visitPages(person, first, pages, async (page, each) => {
        await page.goto(consoleUrl(person, addressOf(each)));
        await untilFilled(page, each);
        expect(await page.evaluate(layoutFaults, width > 1000)).toEqual([]);
        await shot(page, `layout-${each.name}-${width}`);
      });
      // The MCP server of the connector does not run.
      complaints.splice(0, Infinity, ...complaints.filter((complaint) => !complaint.endsWith('/tools')));
    },
    { width, height: width > 1000 ? 900 : 812, dark },
  );
});

test('a style sheet without rows of controls is found on each page with controls', async () => {
  verifies('console.layout');
  await withPage(
    async (first) => {
      await first.context().route(/style-[^/]*\.css$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replaceAll('display:flex', '') });
      });
      const shown = pages.filter(({ name }) => ['runs', 'audit', 'agentflow', 'inbox'].includes(name));
      expect(shown).toHaveLength(4);
      await visitPages(person, first, shown, async (page, each) => {
        await page.goto(consoleUrl(person, addressOf(each)));
        await untilFilled(page, each);
        // The item of the inbox follows its list.
        if (each.name === 'inbox') await page.locator('.controls-actions').getByRole('button').first().waitFor();
        const faults = (await page.evaluate(layoutFaults, true)).join('\n');
        expect(faults).toMatch(/the header is \d+ px high/);
        if (each.name === 'runs' || each.name === 'audit') expect(faults).toContain('lines of filter fields');
        if (each.name === 'runs') expect(faults).toContain('the first row is at');
        if (each.name === 'agentflow' || each.name === 'inbox') expect(faults).toContain('touch');
      });
    },
    { width: 1440, height: 900 },
  );
});
