import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually } from '../../../support/eventually.js';
import { openEventStream } from '../../../support/event-stream.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import {
  beginStream,
  chunk,
  endStream,
  send,
  sendJson,
  startFakeModel,
  streamText,
  type FakeModel,
  type Respond,
} from '../../../support/fake-model.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { actionTo } from '../../../support/flows.js';
import { startHttpSink, type HttpSink } from '../../../support/http-sink.js';
import { ownProduct } from '../../../support/own-product.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const overrides: Record<string, string> = { LLM_API_KEY: 'key-of-the-operator', STEP_PATIENCE: '600' };
const product = ownProduct(overrides);
let model: FakeModel;
let sink: HttpSink;
let through: (workspace: Workspace) => Workspace;

beforeAll(async () => {
  [model, sink] = await Promise.all([startFakeModel(), startHttpSink()]);
  overrides.LLM_BASE_URL = model.url;
  const [api] = await Promise.all([product.api(), product.worker()]);
  through = (workspace) => product.through(api, workspace);
});
afterAll(() => Promise.all([model.close(), sink.close()]));

const workspace = async () => through(await createWorkspace(deps));
const agent = (name: string, more: object = {}) => ({
  _id: 'agent_1',
  title: 'Teller',
  prompt: { template: 'Tell of {{ goal }}.' },
  llm: { model: name },
  ...more,
});
const flowOf = (...agents: object[]) => ({ name: 'Test flow', agents });
const toolOf = (member: Workspace) => ({
  skills: [
    {
      _id: 'skill_1',
      name: 'Calls',
      initial_action_id: null,
      actions: [{ ...actionTo(`${sink.url}/${member.projectID}`, 'look_up'), name: 'look_up' }],
    },
  ],
});
const stream =
  (...chunks: object[]): Respond =>
  (res) => {
    beginStream(res);
    send(res, ...chunks);
    endStream(res);
  };
const eventsOf = async ({ api }: Workspace, id: string) =>
  (await api.get(`/execute_flow/${id}/monitoring`)).body.steps as {
    kind: string;
    error: string | null;
    attempts: number;
  }[];

test.concurrent('a run with tools gives each model back what its answers contained', async () => {
  verifies('model.lossless');
  const member = await workspace();
  const extra_content = { google: { thought_signature: 'SIGNED' } };
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{}' }, extra_content };
  model.on('signed', (res, { body }) => {
    const answer = body.messages.find(({ role }: { role: string }) => role === 'assistant');
    if (!answer)
      return stream(chunk({ reasoning_content: 'A tool.', tool_calls: [call] }), chunk({}, 'tool_calls'))(
        res,
        undefined as never,
        1,
      );
    const isKept = answer.reasoning_content === 'A tool.' && answer.tool_calls[0].extra_content?.google;
    if (isKept) streamText(res, ['<think>Secret', ' plan.</think>', 'Signed.']);
    else sendJson(res, 400, { error: { message: 'Function call is missing a thought_signature' } });
  });
  const id = await startExecution(member, flowOf(agent('signed', toolOf(member))));
  const ended = await untilExecution(member, id, 'completed');
  expect(ended.agents_output[0].output).toBe('Signed.');
  expect(ended.conclusion.conclusion).toBe('Signed.');
  const steps = await eventsOf(member, id);
  await eventually(async () => {
    const { body } = await member.api.get(`/execute_flow/${id}/steps/${steps.length}`);
    expect(body.exchanges[0].output).toMatchObject({ content: 'Signed.', thinking: 'Secret plan.' });
  });
});

test.concurrent('a request is repeated without what the endpoint refuses, and never again with it', async () => {
  verifies('model.negotiated');
  const member = await workspace();
  model.on('strict', (res, { body }) => {
    for (const name of ['max_tokens', 'temperature'])
      if (name in body)
        return sendJson(res, 400, {
          error: { message: `Unsupported parameter: '${name}'`, param: name, code: 'unsupported_parameter' },
        });
    streamText(res, ['fine']);
  });
  const llm = { model: 'strict', temperature: 0.5, max_tokens: 300 };
  const flow = flowOf(agent('strict', { llm, next_agent: 'agent_2' }), agent('strict', { llm, _id: 'agent_2' }));
  const id = await startExecution(member, flow);
  await untilExecution(member, id, 'completed');
  const asked = model.asked('strict').map(({ body }) => body as Record<string, unknown>);
  expect(asked).toHaveLength(4);
  for (const body of asked.slice(2)) expect(body).toMatchObject({ max_completion_tokens: 300 });
  for (const body of asked.slice(2)) expect(body).not.toHaveProperty('temperature');
});

test.concurrent('an agent without settings sends neither a temperature nor a limit', async () => {
  verifies('model.negotiated');
  const member = await workspace();
  const id = await startExecution(member, flowOf(agent('plain')));
  const ended = await untilExecution(member, id, 'completed');
  expect(ended.agentflow.agents[0].llm).toEqual({ model: 'plain', temperature: null, max_tokens: null });
  const [asked] = model.asked('plain').map(({ body }) => body as Record<string, unknown>);
  expect(asked).not.toHaveProperty('temperature');
  expect(asked).not.toHaveProperty('max_tokens');
});

test.concurrent.each([
  ['half, and a shortage', 'insufficient_system_resource'],
  ['half, and an error', 'error'],
  ['half, and no end', ''],
])('half an answer is repeated a few times and then fails: %s', async (name, reason) => {
  verifies('model.half-answers', 'model.few-attempts');
  const member = await workspace();
  model.on(name, (res) => {
    beginStream(res);
    send(res, chunk({ content: 'Half' }, reason), ...(reason === '' ? [] : [chunk({}, reason)]));
    res.end();
  });
  const id = await startExecution(member, flowOf(agent(name)));
  const { execution_context, conclusion } = await untilExecution(member, id, 'failed');
  expect(execution_context.failure).toMatchObject({
    code: 'model_answer_unusable',
    message: expect.stringContaining(reason === '' ? 'early' : reason),
  });
  expect(conclusion?.conclusion ?? '').not.toContain('Half');
  expect(model.asked(name).length).toBeLessThanOrEqual(5);
});

test.concurrent(
  'a failure has the reason of the endpoint, without secrets, in the run, its step and the log',
  async () => {
    verifies('model.reason', 'model.few-attempts');
    const member = await workspace();
    const message =
      'You exceeded your current quota of plan B-77. Key sk-proj-abcdefghijklmnopqrstuvwxyz and key-of-the-operator.';
    model.on('poor', (res) =>
      sendJson(res, 429, { error: { message, type: 'insufficient_quota', code: 'insufficient_quota' } }),
    );
    const id = await startExecution(member, flowOf(agent('poor')));
    const { execution_context } = await untilExecution(member, id, 'failed');
    expect(execution_context.failure).toMatchObject({
      code: 'model_refused',
      message: expect.stringContaining('plan B-77'),
    });
    const steps = await eventsOf(member, id);
    expect(steps.at(-1)?.error).toContain('plan B-77');
    expect(model.asked('poor')).toHaveLength(1);
    const log = path.join(testRun().logs, `${product.env.TEMPORAL_TASK_QUEUE}-worker.log`);
    const logged = await eventually(async () => {
      const text = await readFile(log, 'utf8');
      expect(text).toContain('plan B-77');
      return text;
    });
    for (const text of [JSON.stringify([execution_context, steps]), logged]) {
      expect(text).not.toContain('key-of-the-operator');
      expect(text).not.toContain('sk-proj-abcdef');
    }
  },
);

test.concurrent.each([
  [
    'checked with thinking',
    '<think>{"anomaly": true}? No.</think>\n```json\n{"anomaly": false, "finding": ""}\n```',
    null,
  ],
  ['checked with prose', 'I looked at {it}. {"anomaly": true, "finding": "It is odd."} That is all.', 'It is odd.'],
])('an anomaly check reads a verdict among other words: %s', async (name, verdict, finding) => {
  verifies('model.check-is-optional');
  const member = await workspace();
  model.on(name, (res, { body }) =>
    streamText(res, [String(body.messages[0].content).startsWith('You check') ? verdict : 'fine']),
  );
  const id = await startExecution(member, {
    ...flowOf(agent(name)),
    anomaly_detection: { is_enabled: true, instructions: 'odd things' },
  });
  const { anomaly_detected } = await untilExecution(member, id, 'completed');
  expect(anomaly_detected?.[0]?.finding ?? null).toBe(finding);
});

test.concurrent('a run ends without an anomaly check that gives no verdict, and says so', async () => {
  verifies('model.check-is-optional');
  const member = await workspace();
  model.on('prose', (res, { body }) =>
    streamText(res, [String(body.messages[0].content).startsWith('You check') ? 'No anomaly found.' : 'fine']),
  );
  const id = await startExecution(member, {
    ...flowOf(agent('prose')),
    anomaly_detection: { is_enabled: true, instructions: 'odd things' },
  });
  const { execution_context } = await untilExecution(member, id, 'completed');
  const steps = await eventsOf(member, id);
  expect(steps.find(({ kind }) => kind === 'anomaly')).toMatchObject({ status: 'failed', attempts: 2 });
  expect(execution_context.failure ?? null).toBeNull();
  const events = await openEventStream(`${member.api.url}/execute_flow/${id}/events`, {
    'x-api-key': member.apiKey,
    'last-event-id': '0',
  });
  await events.ended;
  expect(events.events.map(({ event }) => event)).toContain('anomaly_not_checked');
});
