import { eventually } from '../test/support/eventually.js';
import { startFakeModel, streamText } from '../test/support/fake-model.js';
import { startApi, startWorker } from '../test/support/processes.js';
import { agentThatCalls, flowThatCalls } from '../test/support/flows.js';
import { apiClient, type ApiClient } from '../test/support/client.js';
import { executionWorkflowId } from '../workflows/agentflow-execution/messages.js';
import type { BenchEnvironment } from './environment.js';
import { figure, inParallel, percentile, range, type Figure } from './measure.js';

const backlog = 5000;
const hanging = 200;
const samples = 40;
const callers = 20;
/** The duration of a turn of the busy organization: about five of its runs end per second and worker. */
const busyTurnMs = 20_000;

/**
 * Measures how one organization affects another: its starts while the other has 5,000 queued runs, and its decisions
 * while 200 turns of the other hang. The baseline is an idle system.
 */
export async function benchFairness(bench: BenchEnvironment): Promise<Figure[]> {
  const model = await startFakeModel();
  const env = { ...bench.env, TEMPORAL_TASK_QUEUE: `${bench.env.TEMPORAL_TASK_QUEUE}-fair`, LLM_BASE_URL: model.url };
  const api = await startApi(env, `${bench.env.DATA_DIR}-fair-api.log`);
  const worker = await startWorker(env, `${bench.env.DATA_DIR}-fair-worker.log`);
  const organization = async () => {
    const { apiKey, projectID } = await bench.workspace();
    return { api: apiClient(api.url, { 'x-api-key': apiKey }), projectID };
  };
  try {
    const [busy, other] = [await organization(), await organization()];
    const held: (() => void)[] = [];
    model.on('busy', (res) => void setTimeout(() => streamText(res, ['done']), busyTurnMs));
    model.on('hangs', (res) => void held.push(() => streamText(res, ['done'])));

    const idleDecisions = await decide(other, await waitingRuns(other));
    const idle = await starts(other);
    const waiting = await waitingRuns(other);
    await queue(busy, 'hangs', hanging);
    const whileHanging = await decide(other, waiting);
    model.on('hangs', (res) => void streamText(res, ['done']));
    for (const release of held) release();
    await queue(busy, 'busy', backlog);
    const loaded = await starts(other);
    return [
      figure(
        `first turn of a run behind ${backlog} runs of another organization, p95`,
        'ms',
        percentile(loaded, 0.95),
        percentile(idle, 0.95),
        'at most 2',
      ),
      figure(
        `a decision while ${hanging} turns hang, slowest of ${samples}`,
        'ms',
        Math.max(...whileHanging),
        Math.max(...idleDecisions),
        'at most 1,000 ms',
      ),
    ];
  } finally {
    await Promise.all([api.end(), worker.end()]);
    await model.close();
  }

  /** Measures the time from the execute call to the arrival of the run's first turn at the model. */
  async function starts(organization: Organization): Promise<number[]> {
    const flow = await agentflow(organization, 'quick');
    const times: number[] = [];
    for (let n = 0; n <= samples; n += 1) {
      const id = await prepare(organization, flow);
      const begun = Date.now();
      await organization.api.post(`/execute_flow/${id}/execute`, {});
      await bench.deps.temporal.client.workflow.getHandle(executionWorkflowId(id)).result();
      times.push((model.asked('quick').at(-1)?.at ?? Number.NaN) - begun);
    }
    return times.slice(1);
  }
}

type Organization = { api: ApiClient; projectID: string };

async function agentflow({ api, projectID }: Organization, model: string): Promise<string> {
  const flow = { name: 'Fairness', agents: [{ ...agentThatCalls([]), llm: { model } }] };
  return (await api.post(`/agentflow?projectID=${projectID}`, flow)).body._id as string;
}

async function prepare({ api, projectID }: Organization, agentflow_id: string): Promise<string> {
  const response = await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id, goal: 'bench' });
  if (response.status !== 201) throw new Error(`the execution was not created: ${JSON.stringify(response.body)}`);
  return response.body.execution_id as string;
}

async function queue(organization: Organization, model: string, count: number): Promise<void> {
  const flow = await agentflow(organization, model);
  await inParallel(range(count), callers, async () => {
    const id = await prepare(organization, flow);
    await organization.api.post(`/execute_flow/${id}/execute`, {});
  });
}

/** Starts runs whose output waits for a decision. */
async function waitingRuns(organization: Organization): Promise<string[]> {
  const { api, projectID } = organization;
  const flow = flowThatCalls([]);
  const agents = flow.agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true, llm: { model: 'quick' } }));
  const response = await api.post(`/agentflow?projectID=${projectID}`, { ...flow, agents });
  const ids: string[] = [];
  await inParallel(range(samples), 4, async () => {
    const id = await prepare(organization, response.body._id as string);
    await api.post(`/execute_flow/${id}/execute`, {});
    await eventually(async () => {
      const { body } = await api.get(`/execute_flow/${id}`);
      if (!body.execution_context.waiting_for) throw new Error(`${id} does not wait for a decision yet`);
    });
    ids.push(id);
  });
  return ids;
}

/** Measures the duration of each decision, one after the other. */
async function decide({ api }: Organization, ids: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const id of ids) {
    const { execution_context } = (await api.get(`/execute_flow/${id}`)).body;
    const { preview_id } = execution_context.waiting_for;
    const decision = { agent_id: 'agent_1', preview_id, decision: 'approve' };
    const begun = performance.now();
    const answer = await api.post(`/execute_flow/${id}/preview`, decision);
    times.push(performance.now() - begun);
    if (answer.status !== 200) throw new Error(`the decision was refused: ${JSON.stringify(answer.body)}`);
  }
  return times;
}
