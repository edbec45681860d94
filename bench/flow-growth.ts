import { flowThatCalls } from '../test/support/flows.js';
import type { BenchEnvironment } from './environment.js';
import { bareSteps } from './bare/workflows.js';
import { bareRun, runsOf } from './executions.js';
import { figure, inTurns, median, medians, range, timed, type Figure } from './measure.js';

const agents = 50;
const share = 10;
const lightAgents = 40;
const rounds = 4;

export async function benchFlowGrowth(bench: BenchEnvironment): Promise<Figure[]> {
  return [await stepGrowth(bench), await longFlow(bench)];
}

/**
 * Compares the duration of steps at the start and at the end of a flow of 50 agents. A step lasts until the next one
 * starts.
 */
async function stepGrowth(bench: BenchEnvironment): Promise<Figure> {
  const flow = await lightFlow(bench, agents);
  const first: number[] = [];
  const last: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [id = ''] = await flow.prepare(1);
    await flow.runToEnd(id);
    const { body } = await flow.api.get(`/execute_flow/${id}/monitoring`);
    const steps = body.steps as { started_at: number }[];
    const stepTimes = steps
      .slice(1)
      .map(({ started_at }, at) => (started_at - (steps[at]?.started_at ?? Number.NaN)) * 1000);
    // The first round only warms up the worker and the caches.
    if (round === 0) continue;
    first.push(...stepTimes.slice(0, share));
    last.push(...stepTimes.slice(-share));
  }
  return figure(
    `step of a flow of ${agents} agents, the last ${share} against the first ${share}`,
    'ms',
    median(last),
    median(first),
    'about 1',
  );
}

/** Compares a flow of 40 light agents with 40 bare activities, for one caller. */
async function longFlow(bench: BenchEnvironment): Promise<Figure> {
  const flow = await lightFlow(bench, lightAgents);
  const ids = await flow.prepare(2 * rounds);
  const times = await inTurns(
    2 * rounds - 1,
    (round) => timed(() => flow.runToEnd(ids[round] ?? '')),
    () => timed(() => bareRun(bench, bareSteps, lightAgents)),
  );
  const what = `flow of ${lightAgents} agents from the execute call to its end, median`;
  return medians(what, 'ms', times, 'at most 1.25, and 1,000 ms');
}

function lightFlow(bench: BenchEnvironment, count: number) {
  return runsOf(bench, flowThatCalls(...range(count).map(() => [])));
}
