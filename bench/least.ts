import { Agent, createServer } from 'node:http';
import path from 'node:path';
import { newId } from '../src/ids.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { listen } from '../test/support/ports.js';
import { startScript } from '../test/support/processes.js';
import { bareCalls, bareSteps, bareUpdates, touchUpdate } from './bare/workflows.js';
import { post } from './callbacks.js';
import type { BenchEnvironment } from './environment.js';
import { bareRun } from './executions.js';
import { purchases, purchasesQuery } from './gateway.js';
import { inParallel, inTurns, medians, perSecond, range, timed, type Figure, type Sides } from './measure.js';

const callers = 20;
const callback = JSON.stringify({ event: 'call_ended', id: 'x'.repeat(200) });
const row = { name: 'a row', price: 5 };

/**
 * Compares routes that do the least which the product's routes must do (bench/bare/least-server.ts) with the baselines
 * of issue 15. A goal above such a ratio cannot be reached on this machine with Express and these servers.
 */
export async function benchLeast(bench: BenchEnvironment): Promise<Figure[]> {
  const upstream = await listen(
    createServer((_req, res) =>
      res.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"accepted"}'),
    ),
  );
  const logs = bench.env.DATA_DIR ?? '.';
  const env = { ...bench.env, TARGET_PORT: String(upstream.port), TEMPORAL_TASK_QUEUE: bench.bareTaskQueue };
  const started = await Promise.all(
    ['least-server', 'forwarder', 'query-server'].map((name) =>
      startScript(`bench/bare/${name}.js`, env, path.join(logs, `${name}.log`), 'listening'),
    ),
  );
  const [least, forwarder, queries] = started.map(({ up }) => apiClient(`http://127.0.0.1:${Number(up.port)}`));
  if (!least || !forwarder || !queries) throw new Error('a server of the benchmark did not start');
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const forwardBy = (server: ApiClient, to: string) => () =>
    post(agent, Number(new URL(server.url).port), to, callback);
  const insertOne = () =>
    bench.deps.mongo.db.collection<{ _id: string }>('bare_rows').insertOne({ _id: newId(), ...row });
  const { projectID, apiKey } = await bench.workspace();
  await apiClient(bench.api.url, { authorization: `Bearer ${apiKey}` }).post('/v1/save-context', purchases(50));
  const asked = { query: purchasesQuery, params: { project_id: projectID } };
  try {
    return [
      await compared(
        'forwarded callbacks',
        1500,
        'at least 0.8',
        forwardBy(least, '/forward'),
        forwardBy(forwarder, '/x'),
      ),
      await compared('row inserts, against insertOne', 800, 'at least 0.5', () => least.post('/row', row), insertOne),
      await compared(
        'queries',
        1000,
        'at least 0.75',
        () => least.post('/query', asked),
        () => queries.post('/query', asked),
      ),
      await compared(
        'executions',
        200,
        'at least 0.8',
        () => execute(bench, least, 'recordedSteps', 2),
        () => bareRun(bench, bareSteps, 2),
      ),
      await updates(bench, least),
      await oneByOne(
        '40 steps',
        'at most 1.25',
        () => execute(bench, least, 'recordedSteps', 40),
        () => bareRun(bench, bareSteps, 40),
      ),
      await oneByOne(
        '40 acts',
        'at most 1.43',
        () => execute(bench, least, 'recordedCalls', upstream.url, 40),
        () => bareRun(bench, bareCalls, upstream.url, 40),
      ),
    ];
  } finally {
    agent.destroy();
    await Promise.all([...started.map((process) => process.end()), upstream.close()]);
  }
}

async function compared(
  what: string,
  count: number,
  goal: string,
  least: () => Promise<unknown>,
  baseline: () => Promise<unknown>,
): Promise<Figure> {
  const rates = await inTurns(
    5,
    () => perSecond(count, callers, least),
    () => perSecond(count, callers, baseline),
  );
  return medians(`least: ${what}`, '1/s', rates, goal);
}

async function execute(
  bench: BenchEnvironment,
  least: ApiClient,
  workflow: 'recordedSteps' | 'recordedCalls',
  ...args: unknown[]
): Promise<void> {
  const { body } = await least.post(`/start/${workflow}`, args);
  await bench.bareClient.workflow.getHandle(body.execution_id as string).result();
}

async function oneByOne(
  what: string,
  goal: string,
  least: () => Promise<unknown>,
  baseline: () => Promise<unknown>,
): Promise<Figure> {
  const times = await inTurns(
    12,
    () => timed(least),
    () => timed(baseline),
    4,
  );
  return medians(`least: ${what}, one caller, median`, 'ms', times, goal);
}

/** As in the benchmark of a pause, which also resumes after each. */
async function updates(bench: BenchEnvironment, least: ApiClient): Promise<Figure> {
  const times: Sides<number[]> = { ours: [], baseline: [] };
  await inParallel(range(60), callers, async () => {
    const start = () =>
      bench.bareClient.workflow.start(bareUpdates, { taskQueue: bench.bareTaskQueue, workflowId: `least/${newId()}` });
    const [ours, bare] = await Promise.all([start(), start()]);
    const touch = () => least.post(`/touch/${encodeURIComponent(ours.workflowId)}`);
    for (let round = 0; round < 5; round += 1) {
      times.ours.push(await timed(touch));
      times.baseline.push(await timed(() => bare.executeUpdate(touchUpdate)));
      await touch();
    }
    await Promise.all([ours.terminate(), bare.terminate()]);
  });
  return medians('least: update, median', 'ms', times, 'at most 1.3');
}
