import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { flowThatCalls } from '../test/support/flows.js';
import type { BenchEnvironment } from './environment.js';
import { bareSteps } from './bare/workflows.js';
import { bareRun } from './executions.js';
import { figure, median, range, timed, type Figure } from './measure.js';

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
    const id = await flow.prepare();
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
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < 2 * rounds; round += 1) {
    const id = await flow.prepare();
    const duration = await timed(() => flow.runToEnd(id));
    const baseline = await timed(() => bareRun(bench, bareSteps, lightAgents));
    if (round === 0) continue;
    ours.push(duration);
    bare.push(baseline);
  }
  const what = `flow of ${lightAgents} agents from the execute call to its end, median`;
  return figure(what, 'ms', median(ours), median(bare), 'at most 1.25, and 1,000 ms');
}

async function lightFlow(bench: BenchEnvironment, count: number) {
  const { api, projectID } = await bench.workspace();
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls(...range(count).map(() => [])));
  const request = { agentflow_id: agentflow.body._id as string, goal: 'bench' };
  const { workflow } = bench.deps.temporal.client;
  return {
    api,
    prepare: async () => (await api.post(`/execute_flow?projectID=${projectID}`, request)).body.execution_id as string,
    async runToEnd(id: string): Promise<void> {
      await api.post(`/execute_flow/${id}/execute`, {});
      await workflow.getHandle(executionWorkflowId(id)).result();
    },
  };
}
