import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Person } from '../../auth/auth-server.js';
import { lowestContrast, shot } from '../../support/browser.js';
import { eventually } from '../../support/eventually.js';
import { moveExecution, prepareExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, namelessControls, signIn, violations, withPage } from './chromium.js';
import { projectWithEverything } from './pages.js';

const deps = useDeps();
let person: Person;
/** Pages of the app show their content later than they load: `text` is part of it. */
let pages: (readonly [name: string, rest: string, text?: string])[];

beforeAll(async () => {
  const made = await projectWithEverything(deps);
  person = made.person;
  pages = [
    ...made.pages.map(({ name, path, address = path, filled }) => [name, address, filled] as const),
    ['runs-empty', '/runs?text=nothing-has-this', 'No runs match'],
    ['not-found', '/nothing'],
  ];
});

/** The rules of axe whose result depends on the width and the colours of a page. */
const rulesOfAppearance = ['color-contrast', 'scrollable-region-focusable'];

/** The requirements of every page. The wide pages are checked by all rules of axe. */
async function expectAccessible(page: Page, name: string, width: number): Promise<void> {
  const found = {
    name,
    language: await page.locator('html').getAttribute('lang'),
    headings: await page.getByRole('heading', { level: 1 }).count(),
    mains: await page.getByRole('main').count(),
    nameless: await namelessControls(page),
    violations: await violations(page, width < 1000 ? rulesOfAppearance : undefined),
    fits: (await page.evaluate(() => (globalThis as any).document.documentElement.scrollWidth as number)) <= width,
    repeatedIds: await page.evaluate(() => {
      const ids = [...(globalThis as any).document.querySelectorAll('[id]')].map(({ id }: any) => id as string);
      return ids.filter((id, at) => ids.indexOf(id) !== at);
    }),
    readable: (await page.evaluate(lowestContrast)) >= 4.5,
  };
  expect(found).toEqual({
    name,
    language: 'en',
    headings: 1,
    mains: 1,
    nameless: [],
    violations: [],
    fits: true,
    repeatedIds: [],
    readable: true,
  });
}

/** Every control can be reached by Tab, and shows that it has the focus. */
async function expectReachable(page: Page, name: string): Promise<void> {
  // Of a group such as tabs, one is reached by Tab and the others by arrow keys.
  const controls = page
    .locator('a[href], button:enabled, select, textarea, summary, input:not([type=hidden]):enabled')
    .and(page.locator(':not([tabindex="-1"])'))
    .filter({ visible: true });
  await page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as any;
    document.addEventListener('focusin', ({ target }: any) => {
      if (getComputedStyle(target).outlineStyle !== 'none') target.setAttribute('data-reached', '');
    });
  });
  // What loads later is reached by another round.
  await eventually(async () => {
    for (let left = (await controls.count()) + 1; left > 0; left -= 1) await page.keyboard.press('Tab');
    const missed = await controls.evaluateAll((all: any[]) =>
      all.filter((each) => !each.hasAttribute('data-reached')).map((each) => each.outerHTML as string),
    );
    expect([name, missed]).toEqual([name, []]);
  });
}

/** In the page: columns whose head and first cell begin at different places. */
function misplacedHeads(): string[] {
  const left = (element: any) => Math.round(element.getBoundingClientRect().left);
  return [...(globalThis as any).document.querySelectorAll('.table')].flatMap((table: any) => {
    const cells = [...(table.querySelector('[role=row]:has([role=cell])')?.children ?? [])];
    return [...table.querySelectorAll('[role=columnheader]')].flatMap((head: any, at) =>
      cells[at] === undefined || left(head) === left(cells[at]) ? [] : [head.textContent as string],
    );
  });
}

test.each([
  { width: 1280, dark: false },
  { width: 360, dark: true },
])(
  'every page has names, one heading, one main, contrast, no overflow, heads above their columns and reachable controls at $width px',
  async ({ width, dark }) => {
    verifies('console.accessible');
    await withPage(
      async (page, complaints) => {
        await page.goto(consoleUrl(person));
        await expectAccessible(page, 'sign-in', width);
        await signIn(page, person);
        for (const [name, rest, text] of pages) {
          await page.goto(consoleUrl(person, rest));
          if (text !== undefined) await page.getByText(text).filter({ visible: true }).first().waitFor();
          await expectAccessible(page, name, width);
          await shot(page, `${name}-${width}`);
          if (dark) continue;
          expect([name, await page.evaluate(misplacedHeads)]).toEqual([name, []]);
          await expectReachable(page, name);
        }
        // The MCP server of the connector does not run.
        const others = complaints.filter((complaint) => !complaint.endsWith('/tools'));
        complaints.splice(0, Infinity, ...others);
      },
      { width, dark },
    );
  },
);

test('a screen reader announces changes of the state of an execution', async () => {
  verifies('console.accessible');
  const { execution_id } = await prepareExecution(person.workspace, flowThatCalls([]));
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${execution_id}`));
    const state = page.getByRole('status').filter({ hasText: 'ready' });
    await state.waitFor();
    await state.evaluate((element: any) => element.setAttribute('data-kept', 'yes'));
    await moveExecution(person.workspace, execution_id, 'execute');
    await page.getByRole('status').filter({ hasText: 'completed' }).waitFor();
    // The same element: screen readers do not announce a live region that is replaced.
    expect(await page.locator('[role=status][data-kept=yes]').textContent()).toContain('Completed');
  });
});
