import { agentThatCalls } from '../test/support/flows.js';
import { bareParts } from './bare/workflows.js';
import type { BenchEnvironment } from './environment.js';
import { awaitedRuns, bareRun } from './executions.js';
import { figure, inTurns, medians, range, timed, type Figure } from './measure.js';
import { processorMs, residentMiB } from './processes.js';

const rounds = 5;

/**
 * Measures steps whose parts run at once: how long they take and what they cost in processor time of all processes, against a bare
 * workflow with as many activities at once, and the memory of the worker during a map of 10,000 items.
 */
export async function benchParts(bench: BenchEnvironment): Promise<Figure[]> {
  const { api, projectID } = await bench.person();
  const kinds = [
    { what: '40 parallel light steps', flow: parallel(40), count: 40, concurrency: 40 },
    {
      what: 'a map of 1,000 light steps, 20 at once',
      flow: mapOf(1000, 20, { agents: [agent('item')] }),
      count: 1000,
      concurrency: 20,
    },
  ];
  const figures: Figure[] = [];
  for (const { what, flow, count, concurrency } of kinds) {
    const run = await awaitedRuns(api, projectID, flow);
    const sides = await inTurns(
      rounds,
      () => costOf(bench, run),
      () => costOf(bench, () => bareRun(bench, bareParts, count, concurrency)),
    );
    const of = (name: 'ms' | 'cpu') => ({
      ours: sides.ours.map((each) => each[name]),
      baseline: sides.baseline.map((each) => each[name]),
    });
    figures.push(
      medians(`${what}, median`, 'ms', of('ms'), 'at most 1.6'),
      medians(`processor time of ${what}, all processes`, 'ms', of('cpu'), ''),
    );
  }
  return [...figures, await memoryOfLargeMap(bench)];
}

/** A light step: one turn of the offline model. */
const agent = (id: string) => agentThatCalls([], id);
const set = { _id: 'item', type: 'set', values: { at: 'index' }, next: null };

function parallel(count: number) {
  const agents = range(count).map((at) => agent(`a${at}`));
  const branches = agents.map(({ _id }) => ({ name: _id, first: _id }));
  return { name: 'Parallel', initialAgent: 'fan', agents, steps: [{ _id: 'fan', type: 'parallel', branches }] };
}

function mapOf(count: number, concurrency: number, items: { agents?: object[]; steps?: object[] }) {
  const source = `return Array.from({ length: ${count} }, (_, at) => at)`;
  return {
    ...{ name: `Map of ${count}`, initialAgent: 'list', agents: items.agents ?? [] },
    steps: [
      { _id: 'list', type: 'code', source, next: 'each' },
      { _id: 'each', type: 'map', items: 'outputs.list', first: 'item', concurrency },
      ...(items.steps ?? []),
    ],
  };
}

async function costOf(bench: BenchEnvironment, run: () => Promise<unknown>) {
  const total = () => bench.pids().reduce((sum, { pid }) => sum + processorMs(pid), 0);
  const before = total();
  const ms = await timed(run);
  return { ms, cpu: total() - before };
}

/** The largest resident memory of the worker while 10,000 items are worked on, against the memory before. */
async function memoryOfLargeMap(bench: BenchEnvironment): Promise<Figure> {
  const { api, projectID } = await bench.person();
  const run = await awaitedRuns(api, projectID, mapOf(10_000, 10, { steps: [set] }));
  const pid = bench.worker.child.pid ?? 0;
  const before = residentMiB(pid);
  let most = before;
  const sampling = setInterval(() => (most = Math.max(most, residentMiB(pid))), 100);
  try {
    const ms = await timed(run);
    console.error(`a map of 10,000 set steps: ${ms.toFixed(0)} ms`);
  } finally {
    clearInterval(sampling);
  }
  return figure('memory of the worker during a map of 10,000 items', 'MiB', most, before, 'below 500 MiB');
}
