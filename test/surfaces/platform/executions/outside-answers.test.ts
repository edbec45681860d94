import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createExecutionRecordActivities } from '../../../../activities/execution-records.js';
import { newId } from '../../../../src/base/ids.js';
import type { ExecutionDocument } from '../../../../src/domain/executions/record.js';
import { activityEnvironment } from '../../../support/activity-environment.js';
import { noExchanges } from '../../../support/exchanges.js';
import { closedAs, moveExecution, startExecution, untilListed } from '../../../support/executions.js';
import { eventually } from '../../../support/eventually.js';
import { beginStream, chunk, send, sendJson, startFakeModel, type FakeModel } from '../../../support/fake-model.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { agentThatCalls, flowThatCalls } from '../../../support/flows.js';
import { useRunningProduct } from '../../../support/running-product.js';
import { projectionOf } from '../../../support/projections.js';
import { verifies } from '../../../support/verifies.js';

const settings: Record<string, string> = { LLM_API_KEY: 'secret', LLM_MODEL: 'any', STEP_PATIENCE: '15' };
const deps = useDeps();
let model: FakeModel;
// Starts the model before the processes, which read its address at their start.
beforeAll(async () => {
  model = await startFakeModel();
  settings.LLM_BASE_URL = model.url;
});
const product = useRunningProduct(settings);
let workspace: Workspace;
beforeAll(async () => {
  workspace = product.through(await createWorkspace(deps));
});
afterAll(() => model.close());

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const json = (text: string) => (res: ServerResponse) =>
  void res.writeHead(200, { 'content-type': 'application/json' }).end(text);

/** Answers, each with the end of its run. */
const actionAnswers: [string, (res: ServerResponse) => void, 'completed' | 'failed'][] = [
  ['a key with NUL', json('{"a\\u0000b":1}'), 'failed'],
  ['nesting of 150 levels', json(deep(150)), 'failed'],
  ['nesting of 20,000 levels', json(deep(20_000)), 'failed'],
  ['keys that differ in half characters', json('{"a\\ud800":1,"a\\ud801":2}'), 'failed'],
  ['a prototype', json('{"__proto__":{"x":1}}'), 'failed'],
  ['a type of the driver', json('{"_bsontype":"ObjectId","id":"x"}'), 'failed'],
  ['operators and dotted keys', json('{"$where":"1","$set":{"a.b":1},"":0}'), 'completed'],
  ['numbers beyond what JavaScript can hold', json('{"a":1e400,"b":-1e400,"c":1}'), 'completed'],
  ['a number of thirty digits', json('{"c":123456789012345678901234567890}'), 'completed'],
  [
    '50 MiB',
    (res) => void res.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.alloc(50 * 1024 * 1024, 'x')),
    'failed',
  ],
  ['JSON that breaks off', json('{"a":'), 'failed'],
  [
    'another content type',
    (res) => void res.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50, 0xff])),
    'completed',
  ],
];

const args = (text: string) => ({
  tool_calls: [{ index: 0, id: 'c', function: { name: 'Call_action_1', arguments: text } }],
});
const streamed =
  (...chunks: object[]) =>
  (res: ServerResponse) => {
    beginStream(res);
    send(res, ...chunks);
    res.end('data: [DONE]\n\n');
  };

const modelAnswers: [string, (res: ServerResponse) => void, 'completed' | 'failed'][] = [
  [
    'a text with NUL and half a character',
    (res) =>
      sendJson(res, 200, { choices: [{ index: 0, finish_reason: 'stop', message: { content: 'a\0b\ud800c' } }] }),
    'completed',
  ],
  ['arguments with a key that holds NUL', streamed(chunk(args('{"a\\u0000":1}')), chunk({}, 'tool_calls')), 'failed'],
  ['arguments nested too deep', streamed(chunk(args(deep(100))), chunk({}, 'tool_calls')), 'failed'],
  ['nesting of 10,000 levels', json(`{"choices":${deep(10_000)}}`), 'failed'],
  [
    '50 MiB',
    (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(50 * 1024 * 1024, 'x')),
    'failed',
  ],
  [
    'a stream that breaks off',
    (res) => {
      beginStream(res);
      send(res, chunk({ content: 'half' }));
      res.destroy();
    },
    'failed',
  ],
  ['another content type', (res) => void res.writeHead(200, { 'content-type': 'image/png' }).end('no'), 'failed'],
];

async function untilEnded(id: string, status: string): Promise<void> {
  await untilListed(workspace, id, status);
  expect(await closedAs(deps, id)).toBe(status === 'completed' ? 'COMPLETED' : 'FAILED');
  expect(await workspace.api.get(`/execute_flow/${id}`)).toMatchObject({ status: 200, body: { status } });
  expect(await workspace.api.get(`/execute_flow/${id}/monitoring`)).toMatchObject({ status: 200 });
}

describe('a run ends and is recorded', () => {
  test.concurrent.each(actionAnswers)(
    'when an action answers with %s',
    async (_name, respond, status) => {
      verifies('execution.outside-answers');
      const path = `/${newId()}`;
      product.sink.answer(path, (_request, res) => respond(res));
      await untilEnded(await startExecution(workspace, flowThatCalls([product.sink.url + path])), status);
    },
    240_000,
  );

  test.concurrent.each(modelAnswers)(
    'when a model answers with %s',
    async (_name, respond, status) => {
      const name = `model-${newId()}`;
      model.on(name, respond);
      const agent = { ...agentThatCalls([]), llm: { model: name } };
      await untilEnded(await startExecution(workspace, { name: 'Hostile model', agents: [agent] }), status);
    },
    240_000,
  );

  test.concurrent('when it is cancelled during an answer that never ends', async () => {
    const path = `/${newId()}`;
    product.sink.answer(path, (_request, res) => void res.writeHead(200, { 'content-type': 'text/plain' }).write('x'));
    const id = await startExecution(workspace, flowThatCalls([product.sink.url + path]));
    await eventually(() => expect(product.sink.seen(path)).toHaveLength(1));
    expect(await moveExecution(workspace, id, 'cancel')).toMatchObject({ status: 200 });
    await untilListed(workspace, id, 'failed');
    expect(await closedAs(deps, id)).toBe('CANCELLED');
  });
});

test('a model that calls an action with arguments that cannot be stored is told why, and can call it again', async () => {
  verifies('execution.outside-answers');
  const path = `/${newId()}`;
  const name = `model-${newId()}`;
  const replies = [
    streamed(chunk(args('{"word":"a\\u0000"}')), chunk({}, 'tool_calls')),
    streamed(chunk({ content: 'done' }), chunk({}, 'stop')),
  ];
  model.on(name, (res, _asked, attempt) => replies[attempt - 1]?.(res));
  const { skills, ...given } = agentThatCalls([product.sink.url + path]);
  const agent = { ...given, skills: [{ ...skills[0], initial_action_id: null }], llm: { model: name } };
  await untilEnded(await startExecution(workspace, { name: 'Corrected model', agents: [agent] }), 'completed');
  const messages: { role: string; content: string }[] = model.asked(name)[1]?.body.messages;
  expect(messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('the arguments: word: NUL') });
});

test('content that cannot be stored is omitted from the record', async () => {
  verifies('execution.outside-answers');
  const execution_id = newId();
  const { collections } = deps.mongo;
  await collections.executions.insertOne({
    _id: execution_id,
    organization_id: newId(),
    projectID: 'p',
    agentflow_id: 'a',
    last_event_seq: 0,
  } as unknown as ExecutionDocument);
  const { publishExecution } = createExecutionRecordActivities({
    mongo: deps.mongo,
    customers: deps.customers,
    metrics: deps.metrics,
    temporal: deps.temporal,
    audit: deps.governance.audit,
    exchanges: noExchanges,
  });
  const hostile = JSON.parse(
    `{"a\\u0000":1,"_bsontype":"Long","x\\ud800":1,"x\\ud801":2,"deep":${deep(300)}}`,
  ) as Record<string, unknown>;
  const projection = projectionOf(execution_id, {
    status: 'failed',
    end_time: 2,
    context: { actions: hostile },
    events: [{ seq: 1, type: 'started', at: 1, data: hostile }],
  });
  await activityEnvironment().run(publishExecution, projection);
  expect(await collections.executions.findOne({ _id: execution_id })).toMatchObject({
    status: 'failed',
    execution_context: { actions: { 'a\uFFFD': 1 } },
  });
});
