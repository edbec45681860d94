import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startFakeModel, type FakeModel } from '../support/fake-model.js';
import { eventually } from '../support/eventually.js';
import { moveExecution, startExecution, untilExecution, untilListed } from '../support/executions.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../support/fixture.js';
import { agentThatCalls, flowThatCalls } from '../support/flows.js';
import { useOwnTemporal } from '../support/own-temporal.js';
import { useRunningProduct } from '../support/running-product.js';
import { verifies } from '../support/verifies.js';

/** The slots of one organization: a third of those of the worker. */
const slots = 4;
const deps = useDeps();
/** A queue with one partition: Temporal spreads tasks over several at random, and fairness applies within each one. */
const temporal = useOwnTemporal({ 'matching.enableFairness': true, 'matching.numTaskqueueReadPartitions': 1 });
const settings: Record<string, string> = temporal.environment;
let model: FakeModel;
beforeAll(async () => {
  model = await startFakeModel();
  Object.assign(settings, {
    LLM_BASE_URL: model.url,
    LLM_MODEL: 'hangs',
    TEMPORAL_TASK_QUEUE: 'queues',
    WORKER_MAX_ACTIVITIES: String(3 * slots),
  });
  model.on('hangs', () => undefined);
});
afterAll(() => model.close());
const product = useRunningProduct(settings);

const thinking = { name: 'Thinker', agents: [{ ...agentThatCalls([]), llm: { model: 'hangs' } }] };
const asking = {
  ...flowThatCalls([]),
  agents: flowThatCalls([]).agents.map((agent) => ({ ...agent, is_preview_mode_enabled: true })),
};

async function workspaceHere(): Promise<Workspace> {
  return product.through(await createWorkspace(deps));
}

describe('while a model endpoint hangs on every slot for steps', () => {
  test('decisions, pauses and records are processed', async () => {
    verifies('execution.queues');
    const workspace = await workspaceHere();
    model.on(
      'hangs',
      (res, { body }, attempt) =>
        void (attempt <= 1 && body
          ? res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
          : undefined),
    );
    const waits = await startExecution(workspace, asking);
    const { previews } = await untilExecution(workspace, waits, {
      execution_context: { waiting_for: { kind: 'preview' } },
    });
    const hanging: string[] = [];
    for (let n = 0; n < 2 * slots; n += 1) hanging.push(await startExecution(workspace, thinking));
    await eventually(() => expect(model.asked('hangs').length).toBeGreaterThanOrEqual(1 + slots));
    const begun = performance.now();
    const rejected = { agent_id: 'agent_1', preview_id: previews.agent_1.preview_id, decision: 'reject' };
    expect(await (await personOf(deps, workspace)).post(`/execute_flow/${waits}/preview`, rejected)).toMatchObject({
      status: 200,
      body: { status: 'failed' },
    });
    await untilListed(workspace, waits, 'failed');
    for (const id of hanging) expect(await moveExecution(workspace, id, 'pause')).toMatchObject({ status: 200 });
    for (const id of hanging) await untilListed(workspace, id, 'paused');
    console.log(
      `a decision, ${hanging.length} pauses and their records took ${Math.round(performance.now() - begun)} ms`,
    );
    for (const id of hanging) await moveExecution(workspace, id, 'cancel');
    await eventually(async () => {
      const open = await Promise.all(hanging.map((id) => workspace.api.get(`/execute_flow/${id}`)));
      expect(open.every(({ body }) => body.status === 'failed')).toBe(true);
    });
  });
});

describe('the backlog of one organization', () => {
  test('does not delay the step of another', async () => {
    verifies('execution.fairness');
    model.on(
      'hangs',
      (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
    );
    const [busy, other] = [await workspaceHere(), await workspaceHere()];
    const order: string[] = [];
    const gates = Array.from({ length: slots }, (_, n) => `/gate/${n}`);
    const releases = gates.map((gate) => product.sink.hold(gate));
    for (const { projectID } of [busy, other])
      product.sink.answer(`/${projectID}`, (_request, res) => (order.push(projectID), res.end('{}')));
    const url = ({ projectID }: Workspace) => `${product.sink.url}/${projectID}`;
    for (const gate of gates) await startExecution(busy, flowThatCalls([product.sink.url + gate]));
    await eventually(() => expect(product.sink.seen('/gate')).toHaveLength(slots));
    const flow = flowThatCalls([url(busy)]);
    for (let n = 0; n < 30; n += 1) await startExecution(busy, flow);
    const late = await startExecution(other, flowThatCalls([url(other)]));
    await untilExecution(other, late, 'completed');
    for (const release of releases) release();
    await eventually(() => expect(order).toHaveLength(31));
    expect(order.indexOf(other.projectID)).toBe(0);
  });
});

const answer = {
  id: 'c',
  object: 'chat.completion',
  model: 'served',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A draft.' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
};
