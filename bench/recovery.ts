import { tmpdir } from 'node:os';
import path from 'node:path';
import { newId } from '../src/base/ids.js';
import { apiClient } from '../test/support/client.js';
import { eventually } from '../test/support/eventually.js';
import { flowThatCalls } from '../test/support/flows.js';
import { startHttpSink, type HttpSink } from '../test/support/http-sink.js';
import { startApi, startWorker, type Api, type ProductProcess } from '../test/support/processes.js';
import type { BenchEnvironment } from './environment.js';
import { figure, inParallel, range, type Figure } from './measure.js';

const runs = 50;
const callsOfRun = 5;
const callMs = 300;
const callers = 10;
/** A kill comes after this share of the calls. */
const killedAt = 0.25;

interface Processes {
  api: Api;
  worker: ProductProcess;
}

/**
 * Measures how long runs take to end after kill -9. The baseline is the time in which runs that nobody disturbs make the calls
 * that remain at the kill.
 */
export async function benchRecovery(bench: BenchEnvironment): Promise<Figure[]> {
  const env = { ...bench.env, TEMPORAL_TASK_QUEUE: `recovery-${newId()}` };
  const log = (part: string) => path.join(tmpdir(), `${env.TEMPORAL_TASK_QUEUE}-${part}.log`);
  const start = async (): Promise<Processes> => {
    const [api, worker] = await Promise.all([startApi(env, log('api')), startWorker(env, log('worker'))]);
    return { api, worker };
  };
  const sink = await startHttpSink();
  sink.answer('/', (_request, res) => void setTimeout(() => res.end('{}'), callMs));
  let running = await start();
  const spare = await startWorker(env, log('spare'));
  try {
    await secondsToEnd(bench, running.api, sink, async () => undefined);
    const undisturbed = await secondsToEnd(bench, running.api, sink, async () => undefined);
    const worker = await secondsToEnd(bench, running.api, sink, async () => {
      await running.worker.end('SIGKILL');
    });
    const all = await secondsToEnd(bench, running.api, sink, async () => {
      const servers = Object.values(bench.services).filter(({ external }) => !external);
      await Promise.all([
        running.api.end('SIGKILL'),
        spare.end('SIGKILL'),
        ...servers.map((server) => server.kill('SIGKILL')),
      ]);
      await Promise.all(servers.map((server) => server.restart()));
      running = await start();
    });
    return [
      figure('kill -9 of one of two workers: until all runs have ended', 's', worker, undisturbed, ''),
      figure('kill -9 of everything: until all runs have ended', 's', all, undisturbed, ''),
    ];
  } finally {
    await Promise.all([running.api, running.worker, spare].map((process) => process.end('SIGKILL')));
    await sink.close();
  }
}

/** Starts the runs, disturbs them when a quarter of their calls was made, and returns the seconds from there to the last end. */
async function secondsToEnd(
  bench: BenchEnvironment,
  api: Api,
  sink: HttpSink,
  disturb: () => Promise<void>,
): Promise<number> {
  const { projectID, apiKey } = await bench.workspace();
  const client = apiClient(api.url, { 'x-api-key': apiKey });
  const urls = range(callsOfRun).map((at) => `${sink.url}/${projectID}/${at}`);
  const agentflow = await client.post(`/agentflow?projectID=${projectID}`, flowThatCalls(urls));
  const body = { agentflow_id: agentflow.body._id as string, goal: 'bench' };
  await inParallel(range(runs), callers, () => client.post(`/execute_flow?projectID=${projectID}&execute=true`, body));
  const made = () => new Set(sink.seen(`/${projectID}`).map(({ key }) => key)).size;
  await eventually(async () => {
    if (made() < runs * callsOfRun * killedAt) throw new Error(`only ${made()} calls were made`);
  });
  const begun = performance.now();
  await disturb();
  const { executions } = bench.deps.mongo.collections;
  await eventually(async () => {
    const ended = await executions.countDocuments({ projectID, status: 'completed' });
    if (ended < runs) throw new Error(`${ended} of ${runs} runs have ended`);
  });
  return (performance.now() - begun) / 1000;
}
