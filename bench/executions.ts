import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { newId } from '../src/base/ids.js';
import type { ApiClient } from '../test/support/client.js';
import { startHttpSink } from '../test/support/http-sink.js';
import { flowThatCalls } from '../test/support/flows.js';
import type { BenchEnvironment } from './environment.js';
import { residentMiB } from './processes.js';
import { figure, inParallel, inTurns, medians, perSecond, range, timed, type Figure } from './measure.js';
import { bareUpdates, bareSteps, touchUpdate } from './bare/workflows.js';

const callers = 20;
/** The flow has two steps: one model turn for each of its two agents. */
const steps = 2;

/** Compares executions with a bare workflow that has only the same two steps. Only the product writes a record. */
export async function benchExecutions(bench: BenchEnvironment): Promise<Figure[]> {
  const flow = await runsOf(bench, flowThatCalls([], []));
  const rates = await inTurns(
    3,
    async () => {
      const ids = await flow.prepare(200);
      return perSecond(200, callers, (at) => flow.runToEnd(ids[at] ?? ''));
    },
    () => perSecond(200, callers, () => bareRun(bench, bareSteps, steps)),
  );
  return [
    medians('executions of two agents', '1/s', rates, 'at least 0.8'),
    await startMedians(bench, flow),
    await pauseMedians(bench),
  ];
}

/** Compares the resident memory after 2,000 executions with that after 1,000. The ratio shows the growth. */
export async function benchMemory(bench: BenchEnvironment): Promise<Figure[]> {
  const flow = await runsOf(bench, flowThatCalls([], []));
  const readings: { api: number; worker: number }[] = [];
  for (let thousand = 0; thousand < 2; thousand += 1) {
    const ids = await flow.prepare(1000);
    await inParallel(ids, callers, flow.runToEnd);
    readings.push({ api: residentMiB(bench.api.child.pid ?? 0), worker: residentMiB(bench.worker.child.pid ?? 0) });
  }
  const [first, second] = readings;
  const what = 'resident memory, 2,000 against 1,000 executions';
  return [
    figure(`API ${what}`, 'MiB', second?.api ?? NaN, first?.api ?? NaN, 'under 1.05'),
    figure(`worker ${what}`, 'MiB', second?.worker ?? NaN, first?.worker ?? NaN, 'under 1.05'),
  ];
}

/** Creates an agentflow, and returns functions that prepare and run its executions. */
export async function runsOf(bench: BenchEnvironment, flow: object) {
  const { api, projectID } = await bench.workspace();
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flow);
  const { client } = bench.deps.temporal;
  return {
    api,
    async prepare(count: number): Promise<string[]> {
      const ids: string[] = [];
      await inParallel(range(count), callers, async () => {
        const response = await api.post(`/execute_flow?projectID=${projectID}`, {
          agentflow_id: agentflow.body._id,
          goal: 'bench',
        });
        ids.push(response.body.execution_id as string);
      });
      return ids;
    },
    async runToEnd(id: string): Promise<void> {
      await api.post(`/execute_flow/${id}/execute`, {});
      await client.workflow.getHandle(executionWorkflowId(id)).result();
    },
  };
}

/**
 * Creates an agentflow, and returns a function that prepares, starts and awaits a run in one request. It returns the id of the
 * execution.
 */
export async function awaitedRuns(api: ApiClient, projectID: string, flow: object): Promise<() => Promise<string>> {
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flow);
  const body = { agentflow_id: agentflow.body._id as string, goal: 'bench' };
  return async () => {
    const answer = await api.post(`/execute_flow?projectID=${projectID}&execute=true`, body, { prefer: 'wait=60' });
    const { execution_id, status } = answer.body;
    if (status !== 'completed') throw new Error(`a run was answered with ${answer.status} and is ${String(status)}`);
    return String(execution_id);
  };
}

/** Runs a baseline workflow to its end. */
export async function bareRun<A extends unknown[]>(
  bench: BenchEnvironment,
  workflow: (...args: A) => Promise<void>,
  ...args: A
): Promise<void> {
  const options = { taskQueue: bench.bareTaskQueue, workflowId: `bare/${newId()}`, args };
  const handle = await bench.bareClient.workflow.start<(...args: A) => Promise<void>>(workflow, options);
  await handle.result();
}

/** Alternates the two after each call, so that both have the same load. */
async function startMedians(bench: BenchEnvironment, flow: Awaited<ReturnType<typeof runsOf>>): Promise<Figure> {
  const ours: number[] = [];
  const bare: number[] = [];
  const ids = await flow.prepare(200);
  await inParallel(ids, callers, async (id) => {
    ours.push(await timed(() => flow.api.post(`/execute_flow/${id}/execute`, {})));
    const options = { taskQueue: bench.bareTaskQueue, workflowId: `bare/${newId()}`, args: [1] as [number] };
    bare.push(await timed(() => bench.bareClient.workflow.start(bareSteps, options)));
  });
  return medians('execute call, median', 'ms', { ours, baseline: bare }, 'at most 2');
}

async function pauseMedians(bench: BenchEnvironment): Promise<Figure> {
  const sink = await startHttpSink();
  const release = sink.hold('/');
  const { api, prepare } = await runsOf(bench, flowThatCalls([`${sink.url}/held`]));
  const ours: number[] = [];
  const bare: number[] = [];
  await inParallel(await prepare(60), callers, async (id) => {
    await api.post(`/execute_flow/${id}/execute`, {});
    const handle = await bench.bareClient.workflow.start(bareUpdates, {
      taskQueue: bench.bareTaskQueue,
      workflowId: `bare/${newId()}`,
    });
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
  return medians('pause call, median', 'ms', { ours, baseline: bare }, 'at most 1.3');
}
