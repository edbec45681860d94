import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../../src/base/ids.js';
import { eventually } from '../../../support/eventually.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import {
  chunk,
  beginStream,
  endStream,
  send,
  startFakeModel,
  streamText,
  usageChunk,
  type FakeModel,
} from '../../../support/fake-model.js';
import { createWorkspace, personOf, useDeps } from '../../../support/fixture.js';
import { actionTo, flowThatCalls } from '../../../support/flows.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api, ProductProcess } from '../../../support/processes.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const sink = await useHttpSink();
const overrides: Record<string, string> = { LLM_API_KEY: 'sk-secret' };
const product = ownProduct(overrides);
let model: FakeModel;
let api: Api;
let worker: ProductProcess;

beforeAll(async () => {
  model = await startFakeModel();
  overrides.LLM_BASE_URL = model.url;
  [api, worker] = await Promise.all([product.api(), product.worker()]);
});
afterAll(() => model.close());

/** A run whose model made a forbidden call, and which waits for the approval of another call. */
async function waitingCall() {
  const workspace = product.through(api, await createWorkspace(deps));
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN', url: workspace.api.url });
  const policies = [
    { policy_id: 'permit', effect: 'permit' },
    {
      policy_id: 'no-deletes',
      description: 'Agents delete nothing.',
      effect: 'forbid',
      tools: ['act.http'],
      when: 'context.input.destructive && context.input.tokens_spent > 0',
    },
    { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'], when: 'context.input.arguments like "*ada*"' },
  ];
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const prefix = `/${workspace.projectID}`;
  const field = { field_id: 'who', label: 'who', type: 'string', required: false, description: '' };
  const actions = [
    { ...actionTo(`${sink.url}${prefix}/gone`, 'remove'), name: 'remove', method: 'DELETE' },
    { ...actionTo(`${sink.url}${prefix}/mail`, 'tell'), name: 'tell', input_schema: { fields: [field] } },
  ];
  const name = `acts-${newId()}`;
  const calls = [
    { index: 0, id: 'c1', type: 'function', function: { name: 'remove', arguments: '{}' } },
    { index: 1, id: 'c2', type: 'function', function: { name: 'tell', arguments: '{"who":"ada"}' } },
  ];
  model.on(name, (res, _, attempt) => {
    if (attempt > 1) return streamText(res, ['done']);
    beginStream(res);
    send(res, chunk({ role: 'assistant', tool_calls: calls }), chunk({}, 'tool_calls'), usageChunk);
    endStream(res);
  });
  const flow = {
    name: 'Test flow',
    agents: [
      {
        _id: 'agent_1',
        title: 'Teller',
        prompt: { template: 'Tell.' },
        llm: { model: name },
        skills: [{ _id: 'skill_1', name: 'Calls', initial_action_id: null, actions }],
      },
    ],
  };
  const id = await startExecution(workspace, flow);
  const approval = await eventually(async () => {
    const { body } = await workspace.api.get(`/execute_flow/${id}`);
    expect(body.execution_context.waiting_for).toMatchObject({ kind: 'approval' });
    return body.execution_context.waiting_for.approval_id;
  });
  return { workspace, approver, prefix, name, id, approval };
}

/** A run whose approved call is in progress. */
async function callInProgress() {
  const workspace = product.through(api, await createWorkspace(deps));
  const approver = await personOf(deps, workspace, { userId: newId(), role: 'ORG_ADMIN', url: workspace.api.url });
  const policies = [
    { policy_id: 'permit', effect: 'permit' },
    { policy_id: 'ask', effect: 'require_approval', tools: ['act.http'] },
  ];
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const path = `/${workspace.projectID}/one`;
  const release = sink.hold(path);
  const name = `used-${newId()}`;
  model.on(name, (res) => streamText(res, ['done']));
  const { agents } = flowThatCalls([`${sink.url}${path}`]);
  const flow = { name: 'Test flow', agents: agents.map((agent) => ({ ...agent, llm: { model: name } })) };
  const id = await startExecution(workspace, flow);
  const waitingFor = async (not?: string): Promise<string> =>
    eventually(async () => {
      const { body } = await workspace.api.get(`/execute_flow/${id}`);
      expect(body.execution_context.waiting_for).toMatchObject({ kind: 'approval' });
      expect(body.execution_context.waiting_for.approval_id).not.toBe(not);
      return body.execution_context.waiting_for.approval_id;
    });
  const first = await waitingFor();
  expect(await approver.post(`/v1/approvals/${first}/approve`, {})).toMatchObject({ status: 200 });
  await eventually(() => expect(sink.seen(path)).toHaveLength(1));
  return { workspace, approver, path, id, first, waitingFor, release };
}

let waiting: Awaited<ReturnType<typeof waitingCall>>;
let inProgress: Awaited<ReturnType<typeof callInProgress>>;
beforeAll(async () => {
  [waiting, inProgress] = await Promise.all([waitingCall(), callInProgress()]);
  await worker.end('SIGKILL');
  inProgress.release();
  await product.worker();
});

test('a model receives the refusal of its call, and a call that waits survives the worker and is made once', async () => {
  verifies('act.forbid.tool', 'act.hold.killed');
  const { workspace, approver, prefix, name, id, approval } = waiting;
  await eventually(async () => {
    const answer = await approver.post(`/v1/approvals/${approval}/approve`, {});
    // 409: an earlier attempt took effect, but its answer was lost with the worker.
    if (answer.status !== 409) expect(answer).toMatchObject({ status: 200 });
  });
  await untilExecution(workspace, id, 'completed');
  expect(sink.seen(`${prefix}/gone`)).toHaveLength(0);
  expect(sink.seen(`${prefix}/mail`)).toHaveLength(1);
  const answers = model.asked(name)[1]?.body.messages.filter(({ role }: any) => role === 'tool');
  expect(answers.map(({ content }: any) => JSON.parse(content))).toMatchObject([
    { error: { code: 'policy_denied', message: 'Agents delete nothing. (no-deletes)' } },
    { ok: true },
  ]);
});

test('a second use of an approval, by the worker that follows one that was killed during the call, is refused and audited', async () => {
  verifies('act.hold.used');
  const { workspace, approver, path, id, first, waitingFor } = inProgress;
  const second = await waitingFor(first);
  const { body } = await approver.get(`/v1/approvals/${second}`);
  expect(body).toMatchObject({ status: 'pending', outcome_unknown: true });
  const { body: audit } = await approver.get('/v1/audit?action=act.http&limit=50');
  expect(audit.data.map(({ outcome }: any) => outcome)).toContain('denied: refused: used');
  expect(await approver.post(`/v1/approvals/${second}/accept`, { reason: 'It came' })).toMatchObject({ status: 200 });
  await untilExecution(workspace, id, 'completed');
  expect(sink.seen(path)).toHaveLength(1);
});
