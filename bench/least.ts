import { Agent } from 'node:http';
import path from 'node:path';
import { newId } from '../src/base/ids.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { listen } from '../test/support/ports.js';
import { startScript } from '../test/support/processes.js';
import { bareCalls, bareSteps, bareUpdates, touchUpdate } from './bare/workflows.js';
import { callbackBody, createUpstream, post } from './callbacks.js';
import type { BenchEnvironment } from './environment.js';
import { bareRun } from './executions.js';
import { purchases, purchasesQuery } from './gateway.js';
import { inParallel, inTurns, medians, perSecond, range, timed, type Figure, type Sides } from './measure.js';

const callers = 20;
const row = { name: 'a row', price: 5 };

/**
 * Compares routes that do the least which the product's routes must do (bench/bare/least-server.ts) with the baselines
 * of `bench/RESULTS.md`. The ratio shows how much a goal leaves for what the product does in addition.
 */
export async function benchLeast(bench: BenchEnvironment): Promise<Figure[]> {
  const upstream = await listen(createUpstream());
  const logs = bench.env.DATA_DIR ?? '.';
  const env = { ...bench.env, TARGET_PORT: String(upstream.port), TEMPORAL_TASK_QUEUE: bench.bareTaskQueue };
  const started = await Promise.all(
    ['least-server', 'forwarder', 'query-server'].map((name) =>
      startScript(`bench/bare/${name}.js`, env, path.join(logs, `${name}.log`), 'listening'),
    ),
  );
  const encrypted = await startScript(
    'bench/bare/worker.js',
    { ...env, TEMPORAL_TASK_QUEUE: `${bench.bareTaskQueue}-encrypted`, ENCRYPTED: 'true' },
    path.join(logs, 'encrypted-worker.log'),
    'polling',
  );
  const [least, forwarder, queries] = started.map(({ up }) => apiClient(`http://127.0.0.1:${Number(up.port)}`));
  if (!least || !forwarder || !queries) throw new Error('a server of the benchmark did not start');
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const forwardBy = (server: ApiClient, to: string) => () =>
    post(agent, Number(new URL(server.url).port), to, callbackBody);
  const insertOne = () =>
    bench.deps.mongo.db.collection<{ _id: string }>('bare_rows').insertOne({ _id: newId(), ...row });
  const { projectID, apiKey } = await bench.workspace();
  await apiClient(bench.api.url, { authorization: `Bearer ${apiKey}` }).post('/v1/save-context', purchases(50));
  const steps = (count: number) => () => execute(bench, least, 'recordedSteps', count);
  const asked = { query: purchasesQuery, params: { project_id: projectID } };
  try {
    return [
      await compared(
        'forwarded callbacks',
        byRate(1500),
        'at least 0.8',
        forwardBy(least, '/forward'),
        forwardBy(forwarder, '/x'),
      ),
      await compared(
        'row inserts, against insertOne',
        byRate(800),
        'at least 0.5',
        () => least.post('/row', row),
        insertOne,
      ),
      await compared(
        'queries',
        byRate(1000),
        'at least 0.75',
        () => least.post('/query', asked),
        () => queries.post('/query', asked),
      ),
      await compared('executions', byRate(200), 'at least 0.8', steps(2), () => bareRun(bench, bareSteps, 2)),
      await updates(bench, least),
      await compared('40 steps of one caller', oneByOne, 'at most 1.25', steps(40), () =>
        bareRun(bench, bareSteps, 40),
      ),
      await compared(
        '40 acts of one caller',
        oneByOne,
        'at most 1.43',
        () => execute(bench, least, 'recordedCalls', upstream.url, 40),
        () => bareRun(bench, bareCalls, upstream.url, 40),
      ),
    ];
  } finally {
    agent.destroy();
    await Promise.all([...[...started, encrypted].map((process) => process.end()), upstream.close()]);
  }
}

type Work = () => Promise<unknown>;

interface Measure {
  unit: string;
  rounds: number;
  warmUps: number;
  measure: (work: Work) => Promise<number>;
}

const byRate = (count: number): Measure => ({
  unit: '1/s',
  rounds: 5,
  warmUps: 1,
  measure: (work) => perSecond(count, callers, work),
});
const oneByOne: Measure = { unit: 'ms', rounds: 12, warmUps: 4, measure: timed };

async function compared(
  what: string,
  { unit, rounds, warmUps, measure }: Measure,
  goal: string,
  least: Work,
  baseline: Work,
): Promise<Figure> {
  const measured = await inTurns(
    rounds,
    () => measure(least),
    () => measure(baseline),
    warmUps,
  );
  return medians(`least: ${what}, median`, unit, measured, goal);
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
