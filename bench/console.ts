import { createServer } from 'node:http';
import express from 'express';
import type { BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../test/support/launch-chromium.js';
import { listen } from '../test/support/ports.js';
import type { BenchEnvironment, BenchPerson } from './environment.js';
import {
  eachSide,
  figure,
  inParallel,
  inTurns,
  median,
  percentile,
  range,
  type Figure,
  type Sides,
} from './measure.js';

const runs = 10_000;
const callers = 16;
const rounds = 12;
const pixelsPerFrame = 600;

/**
 * Compares the console in a signed-in person's browser with a static page from a bare Express server. Also compares a
 * list of 10,000 runs that loads while it scrolls with a complete table.
 */
export async function benchConsole(bench: BenchEnvironment): Promise<Figure[]> {
  const person = await personWithRuns(bench);
  const pages = express()
    .get('/', (_req, res) => void res.type('html').send('<!doctype html><title>Bare</title><main><h1>Home</h1></main>'))
    .get('/table', (_req, res) => void res.type('html').send(bareTable));
  const bare = await listen(createServer(pages));
  const bareUrl = bare.url;
  try {
    const home = `${bench.api.url}/console/projects/${person.projectID}`;
    const session = await signedIn(home, person);
    const figures = [
      ...(await benchPage('home', { ours: home, bare: bareUrl, session })),
      ...(await benchPage('runs', { ours: `${home}/runs`, bare: bareUrl, session })),
    ];
    const ours = await withPage(session, async (page) => {
      await page.goto(`${home}/runs`);
      await page.getByRole('row').nth(1).waitFor();
      return scrolled(page);
    });
    const baseline = await withPage(session, async (page) => {
      await page.goto(`${bareUrl}/table`);
      return scrolled(page);
    });
    const what = `${runs} runs scrolled, ${pixelsPerFrame} pixels per frame`;
    const slowShare = ({ frames }: typeof ours) => (100 * frames.filter((ms) => ms > 50).length) / frames.length;
    return [
      ...figures,
      ...spread(`${what}: frame`, { ours: ours.frames, baseline: baseline.frames }, 'smooth: ours at most 50 ms'),
      figure(`${what}: frames over 50 ms`, '%', slowShare(ours), slowShare(baseline), 'smooth: ours at most 1 %'),
      figure(`${what}: rows in the page at the end`, 'rows', ours.rows, baseline.rows, 'for information'),
    ];
  } finally {
    await bare.close();
  }
}

const bareTable = `<!doctype html><title>Bare</title><div role="table" style="height:600px;overflow:auto">${range(runs)
  .map((at) => `<div role="row" style="height:37px">run ${at} completed</div>`)
  .join('')}</div>`;

type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Runs `work` on a page in a new browser with an empty cache. */
async function withPage<T>(session: Session | undefined, work: (page: Page) => Promise<T>): Promise<T> {
  const browser = await launchChromium();
  try {
    const contextOptions = { viewport: { width: 1280, height: 800 }, ...(session && { storageState: session }) };
    return await work(await browser.newPage(contextOptions));
  } finally {
    await browser.close();
  }
}

/** Prepares the runs through the API, like any client. */
async function personWithRuns(bench: BenchEnvironment): Promise<BenchPerson> {
  const person = await bench.person();
  const { api, projectID } = person;
  const agent = { _id: 'a', title: 'A', role: 'r', role_description: 'd', prompt: { template: 'x' }, skills: [] };
  const made = await api.post('/agentflow', { name: 'bench', agents: [agent] });
  await inParallel(range(runs), callers, async (at) => {
    const prepare = () =>
      api.post(
        '/execute_flow',
        { agentflow_id: made.body._id, goal: `run ${at}` },
        { 'idempotency-key': `${projectID}-${at}` },
      );
    const first = await prepare();
    // Retries a failed request with the same key, as the clients do.
    const { status, body } = first.status < 500 ? first : await prepare();
    if (status >= 300) throw new Error(`run ${at} was answered with ${status}: ${JSON.stringify(body)}`);
  });
  return person;
}

function signedIn(home: string, { email, password }: BenchPerson): Promise<Session> {
  return withPage(undefined, async (page) => {
    await page.goto(home);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('region', { name: 'Running' }).waitFor();
    return page.context().storageState();
  });
}

interface Timing {
  paint: number;
  content: number;
  data: number;
}

/** `cold` starts with an empty cache; `warm` opens the page a second time. */
async function benchPage(
  name: string,
  { ours, bare, session }: { ours: string; bare: string; session: Session },
): Promise<Figure[]> {
  const open = (address: string) => () =>
    withPage(session, async (page) => {
      await page.addInitScript(watchContent);
      return { cold: await opened(page, address), warm: await opened(page, address) };
    });
  const timings = await inTurns(rounds, open(ours), open(bare));
  return (['cold', 'warm'] as const).flatMap((cache) =>
    (['content', 'paint', 'data'] as const).flatMap((kind) => {
      const times = eachSide(timings, (all) => all.map((timing) => timing[cache][kind]));
      const goal = kind === 'content' ? 'ours at most 1,000 ms' : 'for information';
      return spread(`${name}, ${cache} cache, ${names[kind]}`, times, goal);
    }),
  );
}

const names = {
  content: 'first text of the page itself',
  paint: 'First Contentful Paint',
  data: 'first data of the project',
};

/** Runs in the page. Notes the first frame that shows the page's own text, and the first that shows data. */
function watchContent(): void {
  const { document, performance, requestAnimationFrame } = globalThis as any;
  const seen: Record<string, number> = ((globalThis as any).seen = {});
  const isShown = (selector: string) => {
    const element = document.querySelector(selector);
    return element?.checkVisibility() === true && element.innerText.trim() !== '';
  };
  const nextFrame = () => {
    if (isShown('main h1')) seen.content ??= performance.now();
    if (isShown('main .number a, main .body [role=row], main:not(#main) h1')) seen.data ??= performance.now();
    if (seen.data === undefined) requestAnimationFrame(nextFrame);
  };
  requestAnimationFrame(nextFrame);
}

async function opened(page: Page, address: string): Promise<Timing> {
  await page.goto(address, { waitUntil: 'commit' });
  const timing = await page.waitForFunction(() => {
    const { seen, performance } = globalThis as any;
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    return seen.data !== undefined && paint && { ...seen, paint: paint.startTime };
  });
  return (await timing.jsonValue()) as Timing;
}

/**
 * Scrolls from the first to the last row, even while more rows load.
 * @returns the milliseconds of each frame
 */
function scrolled(page: Page): Promise<{ frames: number[]; rows: number }> {
  return page
    .getByRole('table')
    .first()
    .evaluate(async (table: any, step) => {
      const { performance, requestAnimationFrame } = globalThis as any;
      const frame = () => new Promise<void>((resolve) => requestAnimationFrame(resolve));
      const frames: number[] = [];
      const isAtEnd = () =>
        table.getAttribute('aria-rowcount') !== '-1' && table.scrollTop + table.clientHeight >= table.scrollHeight - 1;
      await frame();
      for (let last = performance.now(); !isAtEnd(); last = performance.now()) {
        table.scrollTop += step;
        await frame();
        frames.push(performance.now() - last);
      }
      return { frames, rows: table.querySelectorAll('[role=row]').length as number };
    }, pixelsPerFrame);
}

function spread(what: string, { ours, baseline }: Sides<number[]>, goal: string): Figure[] {
  const figureOf = (name: string, value: (times: readonly number[]) => number, rule: string) =>
    figure(`${what}, ${name}`, 'ms', value(ours), value(baseline), rule);
  return [
    figureOf('median', median, goal),
    ...(ours.length > 100 ? [figureOf('95th percentile', (times) => percentile(times, 0.95), goal)] : []),
    figureOf('highest', (times) => Math.max(...times), goal),
  ];
}
