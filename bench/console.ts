import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Browser, Page } from 'playwright-core';
import { createUser, grantRole } from '../src/auth/users.js';
import { newId } from '../src/ids.js';
import { epochSeconds } from '../src/time.js';
import { launchChromium } from '../test/support/launch-chromium.js';
import { seedExecution } from '../test/support/seeded-executions.js';
import type { BenchEnvironment } from './environment.js';
import { figure, median, percentile, range, type Figure } from './measure.js';

const rounds = 15;
const runs = 10_000;
const scrolls = 400;
const rowsOnScreen = 40;

/**
 * The first content of the console in a browser with an empty cache, against a page without a script that a bare Express
 * serves; and the time between frames while 10,000 runs are scrolled, against a table that is complete.
 */
export async function benchConsole(bench: BenchEnvironment): Promise<Figure[]> {
  const person = await personWithRuns(bench);
  const bare = express()
    .get('/', (_req, res) => void res.type('html').send('<!doctype html><title>Bare</title><h1>Home</h1>'))
    .get('/table', (_req, res) => void res.type('html').send(bareTable))
    .listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
  const browser = await launchChromium();
  try {
    const home = `${bench.api.url}/console/projects/${person.projectId}`;
    const session = await signedIn(browser, home, person);
    const figures = [];
    for (const [name, address, text] of [
      ['Home', home, 'Failed in the last 24 hours'],
      ['Runs', `${home}/runs`, `run ${runs - 1}`],
    ] as const) {
      const ours: number[] = [];
      const baseline: number[] = [];
      for (const _round of range(rounds)) {
        ours.push(await firstContent(browser, address, text, session));
        baseline.push(await firstContent(browser, bareUrl, 'Home'));
      }
      const goal = 'ours at most 1,000 ms';
      figures.push(
        figure(`${name}, from the request to its content, median`, 'ms', median(ours), median(baseline), goal),
      );
    }
    const context = await browser.newContext({ storageState: session });
    const page = await context.newPage();
    await page.goto(`${home}/runs`);
    await page.getByText(`run ${runs - 1}`, { exact: true }).waitFor();
    const ours = await framesOf(page);
    await page.goto(`${bareUrl}/table`);
    const baseline = await framesOf(page);
    const what = `time between two frames while ${runs} runs are scrolled, 95th percentile`;
    figures.push(figure(what, 'ms', percentile(ours, 0.95), percentile(baseline, 0.95), 'smooth: ours under 50 ms'));
    return figures;
  } finally {
    await browser.close();
    bare.close();
  }
}

const row = (at: number) => `<tr><td>run ${at}</td><td>completed</td><td>the goal</td></tr>`;
const bareTable = `<!doctype html><title>Bare</title><div role="table" style="height:600px;overflow:auto"><table>${range(
  runs,
)
  .map(row)
  .join('')}</table></div>`;

interface BenchPerson {
  email: string;
  password: string;
  projectId: string;
}

async function personWithRuns({ deps }: BenchEnvironment): Promise<BenchPerson> {
  const { collections } = deps.mongo;
  const [organizationId, projectID, userId] = [newId(), newId(), newId()];
  const now = epochSeconds();
  const times = { created_at: now, updated_at: now };
  await collections.projects.insertOne({
    ...{ _id: projectID, name: 'Bench', description: '', status: 'active', ...times },
    ...{ organization_id: organizationId, department_id: newId(), user_id: userId },
  });
  const [email, password] = [`${userId}@example.com`, `password of ${userId}`];
  await createUser(collections, { id: userId, email, name: 'Bench', password, organizationId });
  await grantRole(collections, { userId, organizationId, projectId: null, role: 'OWNER' });
  const first = await seedExecution(deps, { projectID, organizationId, userId }, { created_at: now - runs });
  await collections.executions.insertMany(
    range(runs).map((at) => {
      const id = newId();
      return { ...first, _id: id, execution_id: id, goal: `run ${at}`, created_at: now - runs + at };
    }),
  );
  return { email, password, projectId: projectID };
}

async function signedIn(browser: Browser, home: string, { email, password }: BenchPerson) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(home);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Failed in the last 24 hours').first().waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** In milliseconds, with an empty cache. */
async function firstContent(
  browser: Browser,
  address: string,
  text: string,
  session?: Awaited<ReturnType<typeof signedIn>>,
): Promise<number> {
  const context = await browser.newContext(session && { storageState: session });
  const page = await context.newPage();
  await page.goto(address, { waitUntil: 'commit' });
  await page.getByText(text, { exact: true }).first().waitFor();
  const ms = await page.evaluate(() => performance.now());
  await context.close();
  return ms;
}

/** The milliseconds between frames while the table is scrolled as fast as frames come. */
function framesOf(page: Page): Promise<number[]> {
  return page
    .getByRole('table')
    .first()
    .evaluate(
      async (table: any, { scrolls, step }) => {
        const frames: number[] = [];
        for (let at = 0, last = performance.now(); at < scrolls; at += 1) {
          table.scrollTop += step;
          await new Promise((resolve) => (globalThis as any).requestAnimationFrame(resolve));
          frames.push(performance.now() - last);
          last = performance.now();
        }
        return frames;
      },
      { scrolls, step: rowsOnScreen * 16 },
    );
}
