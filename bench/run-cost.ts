import { flowThatCalls } from '../test/support/flows.js';
import type { BenchEnvironment } from './environment.js';
import { processorMs } from './processes.js';
import { awaitedRuns, bareRun } from './executions.js';
import { bareSteps } from './bare/workflows.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';

const callers = 20;
const runs = 200;
const longRuns = 10;

/**
 * Measures what runs cost in processor time of all processes, the servers included, and how long flows of 40 steps take. The
 * baseline is a bare workflow with the same number of regular activities.
 */
export async function benchRunCost(bench: BenchEnvironment): Promise<Figure[]> {
  const { api, projectID } = await bench.person();
  const kinds = [
    { what: 'a run of two agents', steps: 2, flow: flowThatCalls([], []), count: runs },
    { what: 'a flow of 40 agents', steps: 40, flow: flowThatCalls(...range(40).map(() => [])), count: longRuns },
    { what: 'a flow of 40 set steps', steps: 40, flow: chainOf('set'), count: longRuns },
    { what: 'a flow of 40 code steps', steps: 40, flow: chainOf('code'), count: longRuns },
  ];
  const figures: Figure[] = [];
  for (const { what, steps, flow, count } of kinds) {
    const ours = await awaitedRuns(api, projectID, flow);
    const bare = () => bareRun(bench, bareSteps, steps);
    // The compilers of Node.js and Java reach their final code only after some hundred runs.
    await inParallel(range(2 * count), callers, ours);
    await inParallel(range(2 * count), callers, bare);
    const [cost, bareCost] = [
      await costOf(bench, count, ours, what),
      await costOf(bench, count, bare, `${what}, bare`),
    ];
    figures.push(
      figure(`processor time of ${what}, all processes`, 'ms', cost, bareCost, steps === 2 ? 'at most 60 ms' : ''),
    );
    if (steps === 2) continue;
    const times: number[][] = [[], []];
    for (const _round of range(longRuns)) {
      times[0]?.push(await timed(ours));
      times[1]?.push(await timed(bare));
    }
    figures.push(figure(`${what}, median`, 'ms', median(times[0] ?? []), median(times[1] ?? []), 'at most 1'));
  }
  return figures;
}

function chainOf(type: 'set' | 'code') {
  const steps = range(40).map((at) => ({
    _id: `s${at}`,
    type,
    title: `Step ${at}`,
    ...(type === 'set'
      ? { values: { at: String(at) } }
      : { language: 'javascript', source: `return ${at}`, inputs: {} }),
    next: at === 39 ? null : `s${at + 1}`,
  }));
  return { name: `40 ${type}`, initialAgent: 's0', agents: [], steps };
}

/** Returns the processor time of one run in milliseconds, and prints that of each process. */
async function costOf(
  bench: BenchEnvironment,
  count: number,
  run: () => Promise<unknown>,
  what: string,
): Promise<number> {
  const before = new Map(bench.pids().map(({ name, pid }) => [name, processorMs(pid)]));
  await inParallel(range(count), callers, run);
  const costs = bench
    .pids()
    .map(({ name, pid }) => ({ name, ms: (processorMs(pid) - (before.get(name) ?? 0)) / count }));
  console.error(`${what}: ${costs.map(({ name, ms }) => `${name} ${ms.toFixed(1)} ms`).join(', ')}`);
  return costs.reduce((sum, { ms }) => sum + ms, 0);
}
