import { beforeAll, expect, test } from '@jest/globals';
import type { Person } from '../../auth/auth-server.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, withPage } from './chromium.js';
import { projectWithEverything, type PageCase } from './pages.js';
import { acceptIfAsked, differenceFrom, pictureOf } from './pictures.js';
import { addressOf, untilFilled, visitPages } from './visit-pages.js';

const deps = useDeps();
let person: Person;
let pages: readonly PageCase[];

/** Lists, filters, forms, and single records. Home and the schedules are not among them: what they show depends on the hour. */
const pictured = [
  ...['context', 'runs', 'run', 'agentflows', 'agentflow', 'members'],
  ...['schedule-new', 'connectors', 'table', 'lifecycles', 'audit', 'usage'],
];

beforeAll(async () => {
  const made = await projectWithEverything(deps);
  ({ person } = made);
  pages = made.pages.filter(({ name }) => pictured.includes(name));
  expect(pages).toHaveLength(pictured.length);
});

const window = { width: 1440, height: 900, bypassCSP: true, timezone: 'UTC' };

test('the main pages look like their stored pictures', async () => {
  verifies('console.pictures');
  await withPage(async (first) => {
    await visitPages(person, first, pages, async (page, each) => {
      await page.goto(consoleUrl(person, addressOf(each)));
      await untilFilled(page, each);
      const picture = await pictureOf(page);
      acceptIfAsked(each.name, picture);
      expect(differenceFrom(each.name, picture)).toBeUndefined();
    });
  }, window);
});

test('a style sheet that stacks the filters, toolbars and buttons does not look like the pictures', async () => {
  verifies('console.pictures');
  await withPage(async (first) => {
    await visitPages(
      person,
      first,
      pages.filter(({ name }) => ['runs', 'audit', 'agentflow'].includes(name)),
      async (page, each) => {
        await page.goto(consoleUrl(person, addressOf(each)));
        await untilFilled(page, each);
        await page.addStyleTag({
          content:
            '.controls-toolbar, .form-filter, .controls-actions, .frame-bar, .frame-bar form { display: block !important }',
        });
        expect(differenceFrom(each.name, await pictureOf(page))).toContain('of the picture differ');
      },
    );
  }, window);
});
