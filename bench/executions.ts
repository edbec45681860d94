import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { newId } from '../src/ids.js';
import { startHttpSink } from '../test/support/http-sink.js';
import { flowThatCalls } from '../test/support/flows.js';
import { residentMiB, type BenchEnvironment } from './environment.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';
import { bareUpdates, bareSteps, touchUpdate } from './bare/workflows.js';

const callers = 20;

/** Executions against a bare workflow (issue: goals at least 0.8 of the throughput, at most twice the medians). */
export async function benchExecutions(bench: BenchEnvironment): Promise<Figure[]> {
  const flow = await modelFlow(bench);
  const warmUp = await flow.prepare(40);
  await inParallel(warmUp, callers, flow.runToEnd);
  const activities = await activitiesOf(bench, warmUp[0] ?? '');
  await inParallel(range(40), callers, () => bareRun(bench, activities));

  const rounds = [];
  for (let round = 0; round < 3; round += 1) {
    const ids = await flow.prepare(200);
    const ours = (200 / (await timed(() => inParallel(ids, callers, flow.runToEnd)))) * 1000;
    const bare = (200 / (await timed(() => inParallel(range(200), callers, () => bareRun(bench, activities))))) * 1000;
    rounds.push({ ours, bare });
  }
  return [
    figure(`executions (${activities} activities each)`, '1/s', median(rounds.map(({ ours }) => ours)), median(rounds.map(({ bare }) => bare)), 'at least 0.8'),
    await startMedians(bench, flow),
    await pauseMedians(bench),
  ];
}

/** Resident memory after 1,000 and after 2,000 executions; the ratio of the two says what the last 1,000 added. */
export async function benchMemory(bench: BenchEnvironment): Promise<Figure[]> {
  const flow = await modelFlow(bench);
  const readings: { api: number; worker: number }[] = [];
  for (let thousand = 0; thousand < 2; thousand += 1) {
    const ids = await flow.prepare(1000);
    await inParallel(ids, callers, flow.runToEnd);
    readings.push({ api: residentMiB(bench.api.child.pid ?? 0), worker: residentMiB(bench.worker.child.pid ?? 0) });
  }
  const [first, second] = readings;
  return [
    figure('API resident memory, 2,000 against 1,000 executions', 'MiB', second?.api ?? NaN, first?.api ?? NaN, 'under 1.05'),
    figure('worker resident memory, 2,000 against 1,000 executions', 'MiB', second?.worker ?? NaN, first?.worker ?? NaN, 'under 1.05'),
  ];
}

async function modelFlow(bench: BenchEnvironment) {
  const { api, projectID } = await bench.workspace();
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([], []));
  const { client } = bench.deps.temporal;
  return {
    api,
    async prepare(count: number): Promise<string[]> {
      const ids: string[] = [];
      await inParallel(range(count), callers, async () => {
        const made = await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: agentflow.body._id, goal: 'bench' });
        ids.push(made.body.execution_id as string);
      });
      return ids;
    },
    async runToEnd(id: string): Promise<void> {
      await api.post(`/execute_flow/${id}/execute`, {});
      await client.workflow.getHandle(executionWorkflowId(id)).result();
    },
  };
}

async function bareRun(bench: BenchEnvironment, activities: number): Promise<void> {
  const options = { taskQueue: bench.bareTaskQueue, workflowId: `bare/${newId()}`, args: [activities] as [number] };
  const handle = await bench.deps.temporal.client.workflow.start(bareSteps, options);
  await handle.result();
}

async function activitiesOf(bench: BenchEnvironment, id: string): Promise<number> {
  const { events } = await bench.deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).fetchHistory();
  return events?.filter((event) => event.activityTaskScheduledEventAttributes).length ?? 0;
}

/** The two are alternated call by call, so that both see the same load. */
async function startMedians(bench: BenchEnvironment, flow: Awaited<ReturnType<typeof modelFlow>>): Promise<Figure> {
  const ours: number[] = [];
  const bare: number[] = [];
  const ids = await flow.prepare(200);
  await inParallel(ids, callers, async (id) => {
    ours.push(await timed(() => flow.api.post(`/execute_flow/${id}/execute`, {})));
    const options = { taskQueue: bench.bareTaskQueue, workflowId: `bare/${newId()}`, args: [1] as [number] };
    bare.push(await timed(() => bench.deps.temporal.client.workflow.start(bareSteps, options)));
  });
  return figure('execute call, median', 'ms', median(ours), median(bare), 'at most 2');
}

async function pauseMedians(bench: BenchEnvironment): Promise<Figure> {
  const sink = await startHttpSink();
  const release = sink.hold('/');
  const { api, projectID } = await bench.workspace();
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls([`${sink.url}/held`]));
  const { client } = bench.deps.temporal;
  const ours: number[] = [];
  const bare: number[] = [];
  await inParallel(range(60), callers, async () => {
    const made = await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: agentflow.body._id, goal: 'bench' });
    const id = made.body.execution_id as string;
    await api.post(`/execute_flow/${id}/execute`, {});
    const handle = await client.workflow.start(bareUpdates, { taskQueue: bench.bareTaskQueue, workflowId: `bare/${newId()}` });
    await handle.executeUpdate(touchUpdate);
    await api.get(`/execute_flow/${id}`);
    for (let round = 0; round < 5; round += 1) {
      ours.push(await timed(() => api.post(`/execute_flow/${id}/pause`, {})));
      bare.push(await timed(() => handle.executeUpdate(touchUpdate)));
      await api.post(`/execute_flow/${id}/resume`, {});
    }
    await handle.terminate();
  });
  release();
  await sink.close();
  return figure('pause call, median', 'ms', median(ours), median(bare), 'at most 2');
}
