import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Person } from '../../auth/auth-server.js';
import { withBrowser } from '../../support/browser.js';
import { testRun } from '../../support/run.js';

interface PageOptions {
  width?: number;
  height?: number;
  dark?: boolean;
  /** Without the script that checks for news. */
  withoutScript?: boolean;
  /** Another site, which can be the origin of the page. */
  from?: string;
  /** Whether a test may add styles to the page. */
  bypassCSP?: boolean;
  /** An IANA time zone. */
  timezone?: string;
}

export function withPage<T>(
  work: (page: Page, complaints: string[]) => Promise<T>,
  {
    width = 1280,
    height = 800,
    dark = false,
    withoutScript = false,
    bypassCSP = false,
    from,
    timezone,
  }: PageOptions = {},
): Promise<T> {
  const origins = [testRun().url, ...(from === undefined ? [] : [from])];
  return withBrowser(
    origins,
    {
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      javaScriptEnabled: !withoutScript,
      bypassCSP,
      ...(timezone !== undefined && { timezoneId: timezone }),
    },
    work,
  );
}

export const consoleUrl = (of: string | Person, rest = ''): string =>
  typeof of === 'string'
    ? `${testRun().url}/console${of}`
    : `${testRun().url}/console/projects/${of.workspace.projectID}${rest}`;

export async function signIn(page: Page, person: Person, address = consoleUrl(person)): Promise<void> {
  await page.goto(address);
  await page.getByLabel('Email address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(address);
}

/** Controls without an accessible name in the browser's accessibility tree. */
export async function namelessControls(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const controls = new Set([
    'button',
    'link',
    'textbox',
    'searchbox',
    'combobox',
    'checkbox',
    'radio',
    'meter',
    'DisclosureTriangle',
    'navigation',
    'region',
    'search',
  ]);
  return nodes.flatMap(({ ignored, role, name }) =>
    !ignored && controls.has(String(role?.value)) && !name?.value ? [String(role?.value)] : [],
  );
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * The violations of WCAG 2.2 AA and of best practices that axe finds: the rule and the elements that break it. `rules`
 * selects some rules.
 */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(
    (selected) => (globalThis as any).axe.run(selected === undefined ? {} : { runOnly: selected }) as Promise<any>,
    rules,
  );
  return found.violations.map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html).join(' ')}`);
}

/** Makes a list have an older page, which is refused. @returns a function that ends the refusals */
export async function refuseOlderPage(page: Page, list: RegExp, text: string): Promise<() => Promise<void>> {
  await page.route(list, async (route) => {
    if (new URL(route.request().url()).searchParams.has('cursor')) return route.fallback();
    const response = await route.fetch();
    return route.fulfill({ response, json: { ...(await response.json()), next_cursor: 'older' } });
  });
  return failRequests(page, /[?&]cursor=older/, 503, text);
}

/** Makes requests of the page fail. @returns a function that ends this */
export async function failRequests(
  page: Page,
  pattern: RegExp,
  status: number,
  text: string,
): Promise<() => Promise<void>> {
  const body = JSON.stringify({ error: 'unavailable', error_description: text });
  await page.route(pattern, (route) => route.fulfill({ status, contentType: 'application/json', body }));
  return () => page.unroute(pattern);
}
