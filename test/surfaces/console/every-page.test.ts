import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { packageRoot } from '../../../src/base/packages.js';
import { newId } from '../../../src/base/ids.js';
import { consolePages, type ConsolePage } from '../../../src/surfaces/console/console-pages.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { shot } from '../../support/browser.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';
import { asPage } from './console-browser.js';
import { projectWithEverything, type PageCase } from './pages.js';
import { addressOf, visitPages } from './visit-pages.js';

const deps = useDeps();
let person: Person;
let pages: readonly PageCase[];

beforeAll(async () => {
  ({ person, pages } = await projectWithEverything(deps));
});

const sourceOf = (name: string) => readFileSync(path.join(packageRoot, 'console/src', name), 'utf8');
const isShown = (page: Page, text: string) => page.getByText(text).filter({ visible: true }).first().waitFor();

test('the tests and the router know every page of the app', () => {
  const listed = consolePages.map((page) => page.path).sort();
  const routes = [...sourceOf('router.tsx').matchAll(/(?:page|moved)\(\s*'(\/[^']*)'/g)].map(([, route = '']) => route);
  expect(routes.sort()).toEqual(listed);
  const known = new Set(pages.map((page) => page.path));
  expect([...known].sort()).toEqual(listed.map((route) => route.replaceAll(/\$\w+/g, ':id')));
});

test('without data, each page names the next step, with a command where a list is empty', async () => {
  verifies('console.every-page');
  const visit = async (visited: readonly PageCase[]) => {
    const newcomer = await createPerson(deps);
    await withPage((first) =>
      visitPages(newcomer, first, visited, (page, each) => showsNextStep(newcomer, page, each)),
    );
  };
  await visit(pages.filter(({ isGoverned }) => !isGoverned));
  await visit(pages.filter(({ isGoverned }) => isGoverned));
});

async function showsNextStep(newcomer: Person, page: Page, each: PageCase): Promise<void> {
  const missing = each.empty === undefined;
  await page.goto(consoleUrl(newcomer, missing ? each.path.replace(':id', newId()) : addressOf(each)));
  if (missing) await page.getByRole('alert').getByText('was not found').first().waitFor();
  else await isShown(page, each.empty ?? '');
  if (each.offersCommand) await page.getByRole('region', { name: 'Command' }).first().waitFor();
  await shot(page, `empty-${each.name}`);
}

test('each page shows what a failing API says, with the record of the call', async () => {
  verifies('console.every-page');
  const lifecycle_id = newId();
  const answer = { error: 'unavailable', error_description: 'the store is away', lifecycle_id };
  await withPage(async (first, complaints) => {
    // Not by a route of Playwright, which switches off the cache of the browser.
    await first.context().addInitScript((body) => {
      const ask = globalThis.fetch;
      globalThis.fetch = (input, init) =>
        /^\/(console|readyz)/.test(new URL(input instanceof Request ? input.url : input).pathname)
          ? ask(input, init)
          : Promise.resolve(Response.json(body, { status: 503 }));
    }, answer);
    await visitPages(person, first, pages, async (page, each) => {
      await page.goto(consoleUrl(person, addressOf(each)));
      if (each.name === 'context') {
        await page.getByLabel('Question or Cypher').fill('anything');
        await page.getByRole('button', { name: 'Search' }).click();
      }
      const problem = page.getByRole('alert').filter({ hasText: 'The store is away' }).first();
      await problem.getByRole('link', { name: `Lifecycle ${lifecycle_id}` }).waitFor();
    });
    complaints.splice(0);
  });
});

const entries: readonly ConsolePage[] = consolePages.filter((page) => 'group' in page);

/** What a page requires: its own requirement, or that of its list. */
function requirementOf(page: PageCase): ConsolePage['needs'] {
  const all: readonly ConsolePage[] = consolePages;
  const own = all.find(({ path }) => path.replaceAll(/\$\w+/g, ':id') === page.path);
  return (own?.needs ? own : entries.find(({ path }) => path === `/${page.path.split('/')[1]}`))?.needs;
}

/** The operations that a person may call here, as `<method> <path>`. */
async function operationsOf(who: Person) {
  const api = (await asPage(who)).client({ 'x-service-workspace': `ws_${who.workspace.projectID}` });
  const session = await api.get(`/console/session?projectID=${who.workspace.projectID}`);
  return { api, may: (session.body as { may: string[] }).may };
}

test.each(['VIEWER', 'MEMBER'] as const)('a %s is offered what the API allows, and refused the rest', async (role) => {
  verifies('console.every-page');
  const other = await createPerson(deps, { role, workspace: person.workspace });
  const [owner, { api, may }] = await Promise.all([operationsOf(person), operationsOf(other)]);
  const refused = owner.may.filter((operation) => !may.includes(operation));
  expect(refused.length).toBeGreaterThan(50);
  for (const operation of refused) {
    const [method = '', template = ''] = operation.split(' ');
    const asked = template
      .replace(/\{project_?id\}/i, person.workspace.projectID)
      .replaceAll(/\{\w+\}/g, () => newId());
    expect([operation, (await api[method as 'get'](asked, {})).status]).toEqual([operation, 403]);
  }
  const isOffered = ({ needs }: ConsolePage) => needs === undefined || may.includes(needs.operation);
  const offered = entries.filter(isOffered).map(({ name }) => name);
  // The pages of one record follow the entry of their list.
  const visited = role === 'VIEWER' ? pages : pages.filter(({ path: of }) => of.split('/').length === 2);
  await withPage((first) =>
    visitPages(other, first, visited, async (page, each) => {
      await page.goto(consoleUrl(other, addressOf(each)));
      await page.getByRole('heading', { level: 1 }).waitFor();
      const needs = requirementOf(each);
      if (needs && !may.includes(needs.operation)) await isShown(page, 'does not include access to this page');
      else
        expect([each.name, await page.getByText('does not include access to this page').count()]).toEqual([
          each.name,
          0,
        ]);
      expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(offered);
    }),
  );
});

test('who may only read is offered no change on any page', async () => {
  verifies('console.every-page');
  await withPage(async (first) => {
    await first.context().addInitScript(() => {
      const ask = globalThis.fetch;
      globalThis.fetch = async (input, init) => {
        const response = await ask(input, init);
        if (new URL(response.url).pathname !== '/console/session') return response;
        const session = (await response.json()) as { may: string[] };
        return Response.json({ ...session, may: session.may.filter((operation) => operation.startsWith('get ')) });
      };
    });
    await visitPages(person, first, pages, async (page, each) => {
      await page.goto(consoleUrl(person, addressOf(each)));
      const isRefused = requirementOf(each)?.operation.startsWith('get ') === false;
      await isShown(
        page,
        isRefused ? 'does not include access to this page' : each.filled.replace('Approve…', 'Votes'),
      );
      const changes = page
        .locator('main')
        .getByRole('button', { name: /(?<!^Refreshing)…$|^(Save|Create|Start|Authorize)/ });
      expect([each.name, await changes.allTextContents()]).toEqual([each.name, []]);
    });
  });
});

test('who does not see all records of a list is told so', async () => {
  verifies('console.every-page');
  const newcomer = await createPerson(deps);
  await withPage(async (page) => {
    await page.context().addInitScript(() => {
      const ask = globalThis.fetch;
      globalThis.fetch = async (input, init) => {
        const response = await ask(input, init);
        if (new URL(response.url).pathname !== '/console/session') return response;
        const session = (await response.json()) as { grants: string[] };
        return Response.json({ ...session, grants: session.grants.filter((grant) => !grant.includes('governance')) });
      };
    });
    await signIn(page, newcomer, consoleUrl(newcomer));
    for (const [address, text] of [
      ['', 'You do not see the calls of other people'],
      ['/inbox', 'You do not see the calls of other people'],
      ['/approvals', 'You may only see the approvals that you requested.'],
      ['/approvals?status=approved', 'You may only see the approvals that you requested.'],
    ] as const) {
      await page.goto(consoleUrl(newcomer, address));
      await isShown(page, text);
      expect([address, await page.getByText('This project has no approvals').count()]).toEqual([address, 0]);
    }
  });
});
