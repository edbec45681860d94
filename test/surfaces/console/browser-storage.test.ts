import { beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext } from 'playwright-core';
import type { Person } from '../../auth/auth-server.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';
import { projectWithEverything, type PageCase } from './pages.js';
import { addressOf, untilFilled, visitPages } from './visit-pages.js';

const deps = useDeps();
let person: Person;
let pages: readonly PageCase[];

beforeAll(async () => {
  ({ person, pages } = await projectWithEverything(deps));
});

/** A browser that refuses its storage, as it does for sites whose data a person has blocked. */
const block = (context: BrowserContext) =>
  context.addInitScript(() => {
    for (const area of ['localStorage', 'sessionStorage'])
      Object.defineProperty(globalThis, area, {
        get: () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        },
      });
  });

/** A browser whose storage is full. */
const fill = (context: BrowserContext) =>
  context.addInitScript(() => {
    (globalThis as any).Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
    };
  });

test.each([
  ['blocked', block],
  ['full', fill],
] as const)('with a %s storage, choices and drafts last until the person leaves the page', async (_, refuse) => {
  verifies('console.every-page', 'console.runs.views', 'console.profile');
  await withPage(async (page) => {
    await refuse(page.context());
    await signIn(page, person, consoleUrl(person, '/runs'));
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByRole('textbox', { name: 'Name of this view' }).fill('Mine');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByText('Mine is saved.').waitFor();
    await page.locator('summary', { hasText: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Duration' }).uncheck();
    await page.getByRole('columnheader', { name: 'Duration' }).waitFor({ state: 'detached' });
    const navigation = page.getByRole('navigation');
    await navigation.getByRole('link', { name: 'Agentflows' }).click();
    await page.getByRole('link', { name: 'New agentflow' }).click();
    await page.getByRole('textbox', { name: 'Description', exact: true }).fill('typed');
    await navigation.getByRole('link', { name: 'Runs' }).click();
    await page.locator('summary', { hasText: 'Views' }).click();
    await page.getByRole('button', { name: 'Mine', exact: true }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Duration' }).count()).toBe(0);
    await page.goBack();
    await page.getByRole('textbox', { name: 'Description', exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Description', exact: true }).inputValue()).toBe('typed');
    await page.getByRole('link', { name: person.email.toLowerCase() }).click();
    await page.getByLabel('Theme').selectOption('Dark');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  });
});

test.each([
  ['blocked', block],
  ['full', fill],
] as const)('every page shows its data with a %s storage', async (_, refuse) => {
  verifies('console.every-page');
  await withPage(async (first) => {
    await refuse(first.context());
    await visitPages(person, first, pages, async (page, each) => {
      await page.goto(consoleUrl(person, addressOf(each)));
      await untilFilled(page, each);
    });
  });
});
