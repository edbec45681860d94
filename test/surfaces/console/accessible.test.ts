import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { lowestContrast } from '../../support/browser.js';
import { moveExecution, prepareExecution, startExecution, untilExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { coworker, scheduled } from '../platform/schedules/schedules.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, namelessControls, screenshots, shot, signIn, withPage } from './chromium.js';

const deps = useDeps();
let person: Person;
let pages: [name: string, rest: string][];

beforeAll(async () => {
  console.log(`screenshots in ${screenshots()}`);
  person = await createPerson(deps);
  const gateway = bearerClient(person.workspace.apiKey);
  const ask = { policy_id: 'ask', effect: 'require_approval', tools: ['save-model'] };
  await gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, ask] });
  const held = (await gateway.post('/v1/save-model', { model: 'held' })).body;
  const waiting = await prepareExecution(person.workspace, flowThatCalls([]), {
    goal: `a goal without spaces: ${'long'.repeat(40)}`,
  });
  const { execution_id } = await prepareExecution(person.workspace, flowThatCalls([]));
  await moveExecution(person.workspace, execution_id, 'execute');
  await untilExecution(person.workspace, execution_id, 'completed');
  const hourly = await scheduled(person.workspace, {
    coworker_id: await coworker(person.workspace),
    goal: 'Every hour',
    type: 'interval',
    frequency: 3600,
  });
  const calling = flowThatCalls(['http://127.0.0.1:9/never']);
  const asking = await startExecution(person.workspace, {
    ...calling,
    agents: calling.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true })),
  });
  await untilExecution(person.workspace, asking, { execution_context: { waiting_for: { kind: 'preview' } } });
  pages = [
    ['overview', ''],
    ['executions', '/executions'],
    ['execution', `/executions/${execution_id}`],
    ['execution-ready', `/executions/${waiting.execution_id}`],
    ['cancel', `/executions/${waiting.execution_id}/cancel`],
    ['approvals', '/approvals'],
    ['approval', `/approvals/${held.approval_id}`],
    ['lifecycles', '/lifecycles'],
    ['lifecycle', `/lifecycles/${held.lifecycle_id}`],
    ['audit', '/audit'],
    ['schedules', '/schedules'],
    ['schedule', `/schedules/${hourly._id}`],
    ['preview', `/executions/${asking}`],
    ['not-found', '/nothing'],
  ];
});

/** The requirements of every page. */
async function expectAccessible(page: Page, name: string, width: number): Promise<void> {
  const found = {
    name,
    language: await page.locator('html').getAttribute('lang'),
    headings: await page.getByRole('heading', { level: 1 }).count(),
    mains: await page.getByRole('main').count(),
    nameless: await namelessControls(page),
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
    fits: true,
    repeatedIds: [],
    readable: true,
  });
}

test.each([
  { width: 1280, dark: false },
  { width: 360, dark: true },
])('every page has names, one heading, one main, contrast and no overflow at $width px', async ({ width, dark }) => {
  verifies('console.accessible');
  await withPage(
    async (page) => {
      await page.goto(consoleUrl(person));
      await expectAccessible(page, 'sign-in', width);
      await signIn(page, person);
      for (const [name, rest] of pages) {
        await page.goto(consoleUrl(person, rest));
        await expectAccessible(page, name, width);
        await shot(page, `${name}-${width}`);
      }
    },
    { width, dark },
  );
});

test('every control can be reached by Tab and shows its focus', async () => {
  verifies('console.accessible');
  await withPage(
    async (page) => {
      await signIn(page, person);
      for (const [name, rest] of pages) {
        await page.goto(consoleUrl(person, rest));
        const controls = await page
          .locator('a[href], button, select, textarea, summary, input:not([type=hidden])')
          .count();
        const reached = new Set<string>();
        for (let stop = 0; stop < controls + 20; stop += 1) {
          await page.keyboard.press('Tab');
          const focused = await page.evaluate(() => {
            const { document, getComputedStyle } = globalThis as any;
            const element = document.activeElement;
            if (element === document.body) return undefined;
            const place = [...document.querySelectorAll('*')].indexOf(element);
            return {
              place,
              control: element.matches('a, button, select, textarea, summary, input') as boolean,
              outlined: getComputedStyle(element).outlineStyle !== 'none',
            };
          });
          if (focused === undefined) break;
          expect({ name, ...focused }).toMatchObject({ name, outlined: true });
          if (focused.control) reached.add(String(focused.place));
        }
        expect([name, reached.size]).toEqual([name, controls]);
      }
    },
    { withoutScript: true },
  );
});

test('a screen reader announces changes of the state of an execution', async () => {
  verifies('console.accessible');
  const { execution_id } = await prepareExecution(person.workspace, flowThatCalls([]));
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/executions/${execution_id}`));
    const state = page.getByRole('status').filter({ hasText: 'ready' });
    await state.waitFor();
    await state.evaluate((element: any) => element.setAttribute('data-kept', 'yes'));
    await moveExecution(person.workspace, execution_id, 'execute');
    await page.getByRole('status').filter({ hasText: 'completed' }).waitFor();
    // The same element: screen readers do not announce a live region that is replaced.
    expect(await page.locator('[role=status][data-kept=yes]').textContent()).toContain('completed');
  });
});
