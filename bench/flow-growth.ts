import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import { flowThatCalls } from '../test/support/flows.js';
import type { BenchEnvironment } from './environment.js';
import { figure, median, range, type Figure } from './measure.js';

const agents = 50;
const share = 10;

/** A step of a flow of 50 agents takes as long at its end as at its start: from the begin of one to that of the next. */
export async function benchFlowGrowth(bench: BenchEnvironment): Promise<Figure[]> {
  const { api, projectID } = await bench.workspace();
  const agentflow = await api.post(`/agentflow?projectID=${projectID}`, flowThatCalls(...range(agents).map(() => [])));
  const first: number[] = [];
  const last: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const made = await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: agentflow.body._id, goal: 'bench' });
    const id = made.body.execution_id as string;
    await api.post(`/execute_flow/${id}/execute`, {});
    await bench.deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).result();
    const { body } = await api.get(`/execute_flow/${id}/monitoring`);
    const steps = body.steps as { started_at: number }[];
    const took = steps.slice(1).map(({ started_at }, at) => (started_at - (steps[at]?.started_at ?? Number.NaN)) * 1000);
    // The first round warms worker and caches up.
    if (round === 0) continue;
    first.push(...took.slice(0, share));
    last.push(...took.slice(-share));
  }
  return [figure(`step of a flow of ${agents} agents, the last ${share} against the first ${share}`, 'ms', median(last), median(first), 'about 1')];
}
