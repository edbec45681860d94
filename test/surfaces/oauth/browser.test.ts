import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { lowestContrast, shot, tabTo, withBrowser } from '../../support/browser.js';
import { createWorkspace } from '../../support/fixture.js';
import { eventually } from '../../support/eventually.js';
import { listen, type Listening } from '../../support/ports.js';
import { verifies } from '../../support/verifies.js';
import { grantRole } from '../../../src/auth/users.js';
import { authorizationPath, exchange, newPkce, registerClient, type TestClient } from './flow.js';
import { useOauthServer } from './oauth-server.js';

const server = useOauthServer();
const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };

let person: Person;
let client: TestClient;
let app: Listening;
let redirect: string;
const arrived: string[] = [];

beforeAll(async () => {
  const page = createServer((req, res) => {
    arrived.push(req.url ?? '');
    res.setHeader('content-type', 'text/html').end('<!doctype html><title>Back in the app</title>');
  });
  app = await listen(page);
  redirect = `${app.url}/callback`;
  person = await createPerson(server.deps);
  const { collections } = server.deps.mongo;
  const { organizationId, departmentId, projectID } = person.workspace;
  await collections.organizations.insertOne({ _id: organizationId, name: 'Northern Insurance', created_at: 0 });
  await collections.departments.insertOne({ _id: departmentId, organization_id: organizationId, name: 'Claims' });
  await collections.projects.updateOne({ _id: projectID }, { $set: { name: 'Claims desk' } });
  const other = await createWorkspace(server.deps);
  await collections.organizations.insertOne({ _id: other.organizationId, name: 'Harbour Logistics', created_at: 0 });
  await collections.departments.insertOne({
    _id: other.departmentId,
    organization_id: other.organizationId,
    name: 'Planning',
  });
  await collections.projects.updateOne({ _id: other.projectID }, { $set: { name: 'Berth planning' } });
  await grantRole(collections, {
    userId: person.userId,
    organizationId: other.organizationId,
    projectId: other.projectID,
    role: 'MEMBER',
  });
  client = await registerClient(server, {
    client_name: 'Desk assistant',
    redirect_uris: ['http://127.0.0.1/callback'],
  });
});
afterAll(() => void app.close());

function withPage<T>(
  size: keyof typeof sizes,
  work: (page: Page, complaints: string[]) => Promise<T>,
  { dark = false } = {},
): Promise<T> {
  const touch = size === 'phone';
  return withBrowser(
    [server.url, redirect],
    { viewport: sizes[size], isMobile: touch, hasTouch: touch, colorScheme: dark ? 'dark' : 'light' },
    work,
  );
}

const addressOf = (challenge: string) =>
  server.url + authorizationPath(client, { verifier: '', challenge }, { redirect_uri: redirect });

async function expectReadable(page: Page, size: keyof typeof sizes): Promise<void> {
  const width = await page.evaluate(() => (globalThis as any).document.documentElement.scrollWidth as number);
  expect(width).toBeLessThanOrEqual(sizes[size].width);
  for (const target of await page.locator('button, select, input:not([type=hidden]):not([type=checkbox])').all()) {
    expect((await target.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  }
}

describe.each(['desktop', 'phone'] as const)('the pages in a browser, %s', (size) => {
  test('can be completed by keyboard alone, up to a working code', async () => {
    verifies('oauth.consent.accessible', 'oauth.consent.picks');
    const pkce = newPkce();
    await withPage(size, async (page) => {
      await page.goto(addressOf(pkce.challenge));
      await shot(page, `consent-${size}-1-sign-in`);
      await expectReadable(page, size);
      await tabTo(page, 'Email address');
      await page.keyboard.type(person.email);
      await tabTo(page, 'Password');
      await page.keyboard.type('not the password');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await shot(page, `consent-${size}-2-refused`);
      await tabTo(page, 'Password');
      await page.keyboard.type(person.password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Allow Desk assistant to act for you?' }).waitFor();
      await shot(page, `consent-${size}-3-consent`);
      await expectReadable(page, size);

      await tabTo(page, 'Organization, department and project');
      await page.keyboard.press('ArrowDown');
      await tabTo(page, 'Allow');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await shot(page, `consent-${size}-4-other-project`);
      expect(await page.getByRole('checkbox').count()).toBe(3);
      await tabTo(page, 'Read the documentation');
      await page.keyboard.press('Space');
      await tabTo(page, 'Allow');
      await shot(page, `consent-${size}-5-focus`);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${redirect}**`);
      const answer = new URL(page.url()).searchParams;
      const { status, body } = await exchange(server.client(), client, {
        code: answer.get('code') ?? '',
        code_verifier: pkce.verifier,
        redirect_uri: redirect,
      });
      expect([status, body.scope]).toEqual([200, 'svc:query.read svc:agent.run']);
    });
  });

  test('can be denied by keyboard', async () => {
    verifies('oauth.consent.denied');
    await withPage(size, async (page) => {
      await page.goto(addressOf(newPkce().challenge));
      await tabTo(page, 'Cancel');
      await page.keyboard.press('Space');
      await page.waitForURL(`${redirect}**`);
      expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
    });
  });
});

test('the pages have names, groups and headings for a screen reader, and at least AA contrast', async () => {
  verifies('oauth.consent.accessible');
  for (const dark of [false, true]) {
    await withPage(
      'desktop',
      async (page) => {
        await page.goto(addressOf(newPkce().challenge));
        await page.getByLabel('Email address').fill(person.email);
        await page.getByLabel('Password').fill(person.password);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('heading', { level: 1 }).waitFor();
        await shot(page, dark ? 'consent-dark' : 'consent-light');
        expect(await page.locator('html').getAttribute('lang')).toBe('en');
        expect(await page.title()).toContain('Desk assistant');
        for (const group of ['Where it may act', 'What it may do there'])
          expect(await page.getByRole('group', { name: group }).count()).toBe(1);
        for (const box of await page.getByRole('checkbox').all())
          expect(await box.getAttribute('aria-describedby')).toBeTruthy();
        expect(await page.getByRole('checkbox', { name: 'Search and read', exact: true }).count()).toBe(1);
        expect(await page.evaluate(lowestContrast)).toBeGreaterThanOrEqual(4.5);
      },
      { dark },
    );
  }
});

test('another site cannot frame the page', async () => {
  verifies('oauth.consent.hardened');
  const complaints = await withPage('desktop', async (page, heard) => {
    await page.goto(redirect);
    await page.evaluate((source) => {
      const { document } = globalThis as any;
      document.body.append(Object.assign(document.createElement('iframe'), { src: source }));
    }, addressOf(newPkce().challenge));
    await eventually(() => expect(heard.join()).toMatch(/frame/i));
    return heard.splice(0);
  });
  expect(complaints.join()).toContain("frame-ancestors 'none'");
});
