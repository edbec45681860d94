import { storedEvents } from '../src/domain/executions/events.js';
import { newId } from '../src/base/ids.js';
import { openEventStream } from '../test/support/event-stream.js';
import { flowThatCalls } from '../test/support/flows.js';
import type { BenchEnvironment } from './environment.js';
import { processorMs } from './processes.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';

const callers = 4;
const runs = 200;
const eventsOfRun = 20;
const eventsAtEnd = 40_000;
const batch = 5_000;

/**
 * Measures what a run of two steps, whose events a client follows, costs the local MongoDB in processor time, and how
 * long a read of the events of one run takes. Ours: in a store with 40,000 events of other runs; the baseline: before.
 */
export async function benchRecordStore(bench: BenchEnvironment): Promise<Figure[]> {
  const { mongodbPid, deps } = bench;
  if (mongodbPid === undefined) throw new Error('MONGODB_URI must not be set: the benchmark measures the local server');
  const { execution_events } = deps.mongo.collections;
  const { api, apiKey, projectID } = await bench.workspace();
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([], []));

  const run = async (): Promise<void> => {
    const body = { agentflow_id: agentflow.body._id, goal: 'bench' };
    const id = (await api.post(`/execute_flow?projectID=${projectID}`, body)).body.execution_id as string;
    await api.post(`/execute_flow/${id}/execute`, {});
    const stream = await openEventStream(`${bench.api.url}/execute_flow/${id}/events`, { 'x-api-key': apiKey });
    await stream.ended;
    await api.get(`/execute_flow/${id}`);
    await api.get(`/${projectID}/execution_flows?limit=20`);
  };
  const measureRuns = async (): Promise<number> => {
    const before = processorMs(mongodbPid);
    await inParallel(range(runs), callers, run);
    return (processorMs(mongodbPid) - before) / runs;
  };
  const fill = async (count: number): Promise<string> => {
    const ids = range(Math.ceil(count / eventsOfRun)).map(() => newId());
    const events = ids.flatMap((id) => range(eventsOfRun).map((seq) => eventOf(id, seq + 1)));
    for (let at = 0; at < events.length; at += batch) await execution_events.insertMany(events.slice(at, at + batch));
    return ids[0] ?? '';
  };
  const readOf = async (id: string): Promise<number> => {
    const times: number[] = [];
    for (let read = 0; read < 200; read += 1)
      times.push(await timed(() => storedEvents(deps.mongo.collections, id, 0)));
    return median(times);
  };

  const first = await fill(eventsOfRun);
  await measureRuns();
  const before = { run: await measureRuns(), read: await readOf(first) };
  await fill(eventsAtEnd - (await execution_events.estimatedDocumentCount()));
  const after = { run: await measureRuns(), read: await readOf(first) };
  return [
    figure('processor time of MongoDB for a run of two steps', 'ms', after.run, before.run, 'at most 10 ms'),
    figure('read of the events of a run', 'ms', after.read, before.read, 'flat'),
  ];
}

function eventOf(execution_id: string, seq: number) {
  return {
    _id: `${execution_id}:${seq}`,
    execution_id,
    seq,
    type: 'started' as const,
    at: Date.now() / 1000,
    data: {},
  };
}
