import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Person } from '../../auth/auth-server.js';
import { signIn } from './chromium.js';
import type { PageCase } from './pages.js';

/** Visits the pages in a few tabs at a time, all of them also if one fails. */
export async function visitPages(
  person: Person,
  first: Page,
  pages: readonly PageCase[],
  check: (page: Page, each: PageCase) => Promise<void>,
): Promise<void> {
  await signIn(first, person);
  const failures: string[] = [];
  const waiting = [...pages];
  const work = async () => {
    const page = await first.context().newPage();
    for (let each = waiting.shift(); each; each = waiting.shift())
      await check(page, each).catch((error: unknown) => failures.push(`${each?.name}: ${String(error)}`));
    await page.close();
  };
  await Promise.all([work(), work(), work()]);
  expect(failures).toEqual([]);
}

export const addressOf = ({ path: of, address = of }: PageCase): string => address;

/** Waits until a page shows its data. A page that names no text of its own shows a heading. */
export async function untilFilled(page: Page, { filled }: PageCase): Promise<void> {
  const shown = filled === '' ? page.getByRole('heading', { level: 1 }) : page.getByText(filled);
  await shown.filter({ visible: true }).first().waitFor();
  await page.getByText('Loading…').first().waitFor({ state: 'detached' });
}
