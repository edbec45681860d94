import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { openEventStream, type EventStream } from '../../../support/event-stream.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import {
  beginStream,
  breakOff,
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
import { ownProduct } from '../../../support/own-product.js';
import type { ProductProcess } from '../../../support/processes.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
/** Ten seconds, so that a turn that a test holds open does not reach the limit on a busy machine. */
const overrides: Record<string, string> = {
  LLM_API_KEY: 'sk-secret',
  LLM_IDLE_TIMEOUT_MS: '10000',
  STEP_PATIENCE: '25',
};
const product = ownProduct(overrides);
let model: FakeModel;
let worker: ProductProcess;
let through: (workspace: Workspace) => Workspace;

beforeAll(async () => {
  model = await startFakeModel();
  overrides.LLM_BASE_URL = model.url;
  const [api, started] = await Promise.all([product.api(), product.worker()]);
  worker = started;
  through = (workspace) => product.through(api, workspace);
});
afterAll(() => model.close());

const workspace = async () => through(await createWorkspace(deps));
const flowAt = (name: string, llm: object = {}) => ({
  name: 'Test flow',
  agents: [
    { _id: 'agent_1', title: 'Teller', prompt: { template: 'Tell of {{ goal }}.' }, llm: { model: name, ...llm } },
  ],
});
const watch = ({ api, apiKey }: Workspace, id: string, last?: number) =>
  openEventStream(`${api.url}/execute_flow/${id}/events`, {
    'x-api-key': apiKey,
    ...(last !== undefined && { 'last-event-id': String(last) }),
  });
const deltas = (stream: EventStream) =>
  stream.events.filter(({ event }) => event === 'model_delta').map(({ data }) => data.data);
const durable = (stream: EventStream) => stream.events.filter(({ event }) => event !== 'model_delta');
const textOf = (parts: { text: string }[]) => parts.map(({ text }) => text).join('');
const monitoring = async ({ api }: Workspace, id: string) =>
  (await api.get(`/execute_flow/${id}/monitoring`)).body.steps.at(-1);

describe('a model turn in the events of its execution', () => {
  test('arrives in parts between the events, and a reader that reconnects neither loses nor repeats a part', async () => {
    verifies('agent.streaming');
    const member = await workspace();
    const steps: (() => void)[] = [];
    model.on('slow', (res) => {
      beginStream(res);
      send(res, chunk({ content: 'Once ' }));
      steps.push(() => send(res, chunk({ content: 'upon ' })));
      steps.push(() => {
        send(res, chunk({ content: 'a time.' }), chunk({}, 'stop'));
        endStream(res);
      });
    });
    const id = await startExecution(member, flowAt('slow'));
    const first = await watch(member, id);
    await eventually(() => expect(textOf(deltas(first))).toBe('Once '));
    expect(durable(first).map(({ event }) => event)).toEqual(['started', 'agent_started', 'step_started']);
    expect(deltas(first)[0]).toEqual({
      after_seq: 3,
      agent_id: 'agent_1',
      step_id: 'agent_1/model',
      attempt: 1,
      n: 1,
      text: 'Once ',
    });
    first.leave();
    steps[0]?.();
    const second = await watch(member, id, 3);
    await eventually(() => expect(textOf(deltas(second))).toBe('Once upon '));
    steps[1]?.();
    await second.ended;
    expect(textOf(deltas(second))).toBe('Once upon a time.');
    expect(second.events.findLastIndex(({ event }) => event === 'model_delta')).toBeLessThan(
      second.events.findIndex(({ event }) => event === 'step_completed'),
    );
    expect([...durable(first), ...durable(second)].map(({ id: seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    // Without an id, a delta does not change the reader's Last-Event-ID.
    expect(second.events.filter(({ event }) => event === 'model_delta').every(({ id: seq }) => Number.isNaN(seq))).toBe(
      true,
    );
    const third = await watch(member, id, 0);
    await third.ended;
    expect(durable(third).map(({ id: seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(deltas(third)).toEqual([]);
  });

  test('reports a retry and begins again', async () => {
    verifies('agent.streaming', 'agent.retry');
    const member = await workspace();
    let reset = () => undefined as void;
    model.on('stumbling', (res, _, attempt) => {
      if (attempt > 1) return streamText(res, ['Whole ', 'answer.']);
      beginStream(res);
      send(res, chunk({ content: 'Half an ' }));
      reset = () => res.socket?.resetAndDestroy();
    });
    const id = await startExecution(member, flowAt('stumbling'));
    const stream = await watch(member, id);
    const of = (attempt: number) => textOf(deltas(stream).filter((delta) => delta.attempt === attempt));
    await eventually(() => expect(of(1)).toBe('Half an '));
    reset();
    await stream.ended;
    expect([of(1), of(2)]).toEqual(['Half an ', 'Whole answer.']);
    expect((await untilExecution(member, id, 'completed')).agents_output[0].output).toBe('Whole answer.');
  });
});

describe('a model turn on the endpoint', () => {
  test.concurrent('has the temperature, the token limit and the tools of its agent', async () => {
    verifies('agent.parameters');
    const member = await workspace();
    const id = await startExecution(member, flowAt('tuned', { temperature: 1.3, max_tokens: 77 }));
    const { agents_output } = await untilExecution(member, id, 'completed');
    expect(model.asked('tuned').map(({ body }) => body)).toMatchObject([
      {
        temperature: 1.3,
        max_tokens: 77,
        stream: true,
        messages: [{ role: 'system' }, { role: 'user', content: 'Tell of the sink.' }],
      },
    ]);
    expect(agents_output[0]).toMatchObject({
      model: 'served',
      output: 'fine',
      usage: { input_tokens: 12, output_tokens: 3 },
    });
  });

  test.concurrent.each<[string, number, Record<string, string>, number]>([
    ['429 and seconds', 429, { 'retry-after': '3' }, 3000],
    ['503 and a date', 503, { 'retry-after': 'a date' }, 2500],
    ['500 and milliseconds', 500, { 'retry-after-ms': '2600' }, 2600],
  ])('is repeated after %s at the requested time', async (name, status, headers, least) => {
    verifies('agent.retry');
    const member = await workspace();
    const until = Math.ceil(Date.now() / 1000) * 1000 + 6000;
    model.on(name, (res, _, attempt) => {
      const hints = Object.fromEntries(
        Object.entries(headers).map(([key, value]) => [
          key,
          value === 'a date' ? new Date(until).toUTCString() : value,
        ]),
      );
      if (attempt === 1) sendJson(res, status, { error: { message: 'busy' } }, hints);
      else streamText(res, ['Now.']);
    });
    const id = await startExecution(member, flowAt(name));
    await untilExecution(member, id, 'completed');
    const [first, second] = model.asked(name);
    const waited = (second?.at ?? 0) - (first?.at ?? 0);
    if (headers['retry-after'] === 'a date') expect(second?.at).toBeGreaterThanOrEqual(until - 1000);
    else expect(waited).toBeGreaterThanOrEqual(least - 100);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(await monitoring(member, id)).toMatchObject({ kind: 'model', attempts: 2 });
  });

  test.concurrent.each([
    ['a 401', 'model_refused', (res) => sendJson(res, 401, { error: { message: 'bad key sk-secret' } })],
    [
      'a refusal',
      'model_refused',
      (res) => sendJson(res, 200, { choices: [{ message: { content: null, refusal: 'I will not.' } }] }),
    ],
    ['a content filter', 'model_refused', (res) => streamText(res, ['Some'], 'content_filter')],
    ['a token limit before the first word', 'model_token_limit', (res) => streamText(res, [], 'length')],
  ] satisfies [string, string, Respond][])('is not repeated after %s', async (name, code, respond) => {
    verifies('agent.retry');
    const member = await workspace();
    model.on(name, respond);
    const id = await startExecution(member, flowAt(name));
    const ended = await untilExecution(member, id, 'failed');
    expect(ended.execution_context.failure).toMatchObject({ reason: 'step_failed', code });
    expect(model.asked(name)).toHaveLength(1);
    expect(JSON.stringify(ended)).not.toContain('sk-secret');
  });
});

describe('a bad endpoint', () => {
  const bad: [string, Respond][] = [
    ['hangs', () => undefined],
    ['hangs after its headers', (res) => beginStream(res)],
    ['falls silent', (res) => (beginStream(res), send(res, chunk({ content: 'Half' })))],
    ['breaks off', (res) => breakOff(res, chunk({ content: 'Half' }))],
    ['ends too early', (res) => (beginStream(res), send(res, chunk({ content: 'Half' })), res.end())],
    ['sends HTML', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>')],
    ['sends no choices', (res) => sendJson(res, 200, { choices: [] })],
    ['sends broken JSON', (res) => (beginStream(res), res.end('data: {"choices": [{"del\n\n'))],
  ];

  test.concurrent('costs an attempt and never the worker, whatever it does', async () => {
    verifies('agent.bad-endpoint');
    const member = await workspace();
    const runs = await Promise.all(
      bad.map(async ([name, respond]) => {
        model.on(name, (res, asked, attempt) =>
          attempt === 1 ? respond(res, asked, attempt) : streamText(res, ['Good.']),
        );
        return { name, id: await startExecution(member, flowAt(name)) };
      }),
    );
    for (const { name, id } of runs) {
      expect({ name, output: (await untilExecution(member, id, 'completed')).agents_output[0].output }).toEqual({
        name,
        output: 'Good.',
      });
      expect({ name, ...(await monitoring(member, id)) }).toMatchObject({ name: 'Teller: model turn', attempts: 2 });
    }
    expect(worker.child.exitCode).toBeNull();
  });

  test.concurrent('that never recovers fails the run with its error', async () => {
    verifies('agent.bad-endpoint');
    const member = await workspace();
    model.on('nonsense', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>'));
    const id = await startExecution(member, flowAt('nonsense'));
    const { execution_context } = await untilExecution(member, id, 'failed');
    expect(execution_context.failure).toMatchObject({
      code: 'model_answer_unusable',
      message: 'the model endpoint gave no answer that can be read',
    });
    // The attempts begin after 0, 1, 3, 7 and 15 seconds. The next one would be too late.
    expect(model.asked('nonsense')).toHaveLength(5);
    expect(worker.child.exitCode).toBeNull();
  });
});
