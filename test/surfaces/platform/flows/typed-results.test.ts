import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, streamText, type FakeModel } from '../../../support/fake-model.js';
import { createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import { bearerClient } from '../../../support/gateway.js';
import { ownProduct } from '../../../support/own-product.js';
import { refusal } from '../../../support/refusal.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const overrides: Record<string, string> = { LLM_API_KEY: 'sk-secret' };
const product = ownProduct(overrides);
let model: FakeModel;
let through: (workspace: Workspace) => Workspace;

beforeAll(async () => {
  model = await startFakeModel();
  overrides.LLM_BASE_URL = model.url;
  const [api] = await Promise.all([product.api(), product.worker()]);
  through = (workspace) => product.through(api, workspace);
});
afterAll(() => model.close());

const workspace = async () => through(await createWorkspace(deps));
const total = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] };
const order = {
  type: 'object',
  properties: {
    order: { type: 'object', properties: { count: { type: 'integer', minimum: 1 } }, required: ['count'] },
  },
  required: ['order'],
};
const counter = (name: string, change: object = {}) => ({
  _id: 'counter',
  title: 'Counter',
  llm: { model: name },
  prompt: { template: 'Count {{ goal }}.' },
  output_schema: total,
  ...change,
});
/** The model gives these answers in order, and then the last one again. */
const answers = (name: string, texts: string[], finish?: string) =>
  model.on(name, (res, _asked, attempt) => streamText(res, [texts[attempt - 1] ?? texts.at(-1) ?? ''], finish));

describe('the output of an agent with a schema', () => {
  test('is a JSON value in the API, expressions, templates and the conclusion', async () => {
    verifies('flow.typed.outputs');
    const member = await workspace();
    answers('typed', ['```json\n{"total": "7"}\n```']);
    const id = await startExecution(member, {
      name: 'Typed',
      initialAgent: 'counter',
      agents: [
        counter('typed', { next_agent: 'double' }),
        {
          _id: 'teller',
          title: 'Teller',
          llm: { model: 'plain' },
          prompt: {
            template: 'It is {{ previous.total }}, {{ outputs[0].output.total }}, {{ outputs_by_id.double.n }}.',
          },
          next_agent: 'last',
        },
      ],
      steps: [
        { _id: 'double', type: 'set', values: { n: 'outputs.counter.total * 2' }, next: 'teller' },
        { _id: 'last', type: 'set', values: { total: 'outputs.counter.total' } },
      ],
      output_schema: total,
    });
    const run = await untilExecution(member, id, 'completed');
    expect(run.agents_output[0]).toMatchObject({ output: '{"total":7}', value: { total: 7 } });
    expect(run.conclusion).toMatchObject({ output: { total: 7 }, conclusion: '{"total":7}' });
    expect(run.agentflow.output_schema).toEqual(total);
    expect(model.asked('plain')[0]?.body.messages.at(-1).content).toContain('It is 7, 7, 14.');
    const system = model.asked('typed')[0]?.body.messages[0].content;
    expect(system).toContain('one JSON value');
  });

  test('is corrected by the model with the problems, at most twice', async () => {
    verifies('flow.typed.repairs');
    const member = await workspace();
    answers('mends', ['The total is 7.', '{"total": "seven"}', '{"total": 7}']);
    const id = await startExecution(member, { name: 'Mends', agents: [counter('mends')] });
    const run = await untilExecution(member, id, 'completed');
    expect(run.conclusion.output).toEqual({ total: 7 });
    const [, second, third] = model.asked('mends').map(({ body }) => body.messages.slice(2));
    expect(second).toMatchObject([
      { role: 'assistant', content: 'The total is 7.' },
      { role: 'user', content: expect.stringContaining('- answer: must be one JSON value; it is no valid JSON') },
    ]);
    expect(third).toHaveLength(4);
    expect(third[3].content).toContain('- answer.total: must be a number');
    // All turns were paid.
    expect(run.agents_output[0].usage).toEqual({ input_tokens: 36, output_tokens: 9 });
  });

  test.each([
    ['never matches', ['{"sum": 7}'], undefined, 'answer.total: is required'],
    ['is always cut', ['{"total": 7}'], 'length', 'reached the token limit before its end'],
  ])('fails the run with output_invalid if it %s', async (what, texts, finish, problem) => {
    verifies('flow.typed.repairs');
    const member = await workspace();
    const name = what.replaceAll(' ', '-');
    answers(name, texts, finish);
    const id = await startExecution(member, { name: 'Fails', agents: [counter(name)] });
    const run = await untilExecution(member, id, 'failed');
    expect(run.execution_context.failure).toMatchObject({
      code: 'output_invalid',
      message: expect.stringContaining(problem),
    });
    expect(run.agents_output).toEqual([]);
    expect(model.asked(name)).toHaveLength(3);
  });

  test('is what a person makes of it, if that matches too', async () => {
    verifies('flow.typed.outputs');
    const member = await workspace();
    answers('seen', ['{"total": 7}']);
    const id = await startExecution(member, {
      name: 'Previewed',
      agents: [counter('seen', { is_preview_mode_enabled: true })],
    });
    const preview = await eventually(async () => {
      const { body } = await member.api.get(`/execute_flow/${id}`);
      expect(body.previews.counter).toMatchObject({ status: 'waiting', proposed: { output: '{"total":7}' } });
      return body.previews.counter;
    });
    const person = await personOf(deps, member);
    const decide = (edits: string) =>
      person.post(`/execute_flow/${id}/preview`, {
        ...{ agent_id: 'counter', preview_id: preview.preview_id, decision: 'approve', edits },
      });
    expect(await decide('eight')).toMatchObject(refusal(400, 'invalid_request', 'text of a JSON value'));
    expect(await decide('{"sum": 8}')).toMatchObject(refusal(400, 'invalid_request', 'edits.total: is required'));
    expect(await decide('{"total": 8}')).toMatchObject({ status: 200 });
    expect((await untilExecution(member, id, 'completed')).conclusion.output).toEqual({ total: 8 });
  });
});

describe('the output of a flow with a schema', () => {
  test('is that of its last agent, which answers in this schema', async () => {
    verifies('flow.typed.outputs');
    const member = await workspace();
    answers('ends', ['{"total": 7}']);
    const flow = { name: 'Ends', agents: [counter('ends', { output_schema: null })], output_schema: total };
    const id = await startExecution(member, flow);
    expect((await untilExecution(member, id, 'completed')).conclusion.output).toEqual({ total: 7 });
    expect(model.asked('ends')[0]?.body.response_format.json_schema.schema).toEqual(total);
  });

  test('fails the run if a step returns something else', async () => {
    verifies('flow.typed.outputs');
    const member = await workspace();
    const steps = [{ _id: 'a', type: 'set', values: { sum: '7' } }];
    const id = await startExecution(member, { name: 'Other', initialAgent: 'a', steps, output_schema: total });
    const { execution_context } = await untilExecution(member, id, 'failed');
    expect(execution_context.failure).toMatchObject({
      code: 'output_invalid',
      message: 'output.total: is required',
      step_id: 'output',
    });
  });
});

describe('a branch whose case a model chooses', () => {
  const routing = (name: string, change: object = {}) => ({
    name: 'Routing',
    initialAgent: 'route',
    steps: [
      {
        ...{ _id: 'route', type: 'branch' },
        decide: { instructions: 'Where does "{{ mail }}" belong?', llm: { model: name } },
        cases: [
          { name: 'sales', description: 'Orders and offers', next: 'sold' },
          { name: 'support', description: 'Something is broken', next: 'helped' },
          { name: 'none', next: null },
        ],
        ...change,
      },
      { _id: 'sold', type: 'set', values: { by: '"sales"' } },
      { _id: 'helped', type: 'set', values: { by: 'outputs.route.case' } },
    ],
  });
  const mail = { input_variables: { mail: 'It is broken' } };

  test('continues there, after a name that is no case was corrected', async () => {
    verifies('flow.branch.decide');
    const member = await workspace();
    answers('routes', ['{"case": "Support team"}', '{"case": "support"}']);
    const id = await startExecution(member, routing('routes'), mail);
    expect((await untilExecution(member, id, 'completed')).conclusion.output).toEqual({ by: 'support' });
    const [{ body: asked } = { body: undefined }] = model.asked('routes');
    expect(asked.messages[0].content).toContain('- support: Something is broken');
    expect(asked.messages[1].content).toContain('Where does "It is broken" belong?');
    expect(asked.response_format.json_schema).toMatchObject({
      strict: true,
      schema: { properties: { case: { enum: ['sales', 'support', 'none'] } } },
    });
    const { nodes } = (await member.api.get(`/execute_flow/${id}/graph`)).body;
    expect(nodes.map((node: any) => [node.id, node.kind, node.runs.completed])).toEqual([
      ['route', 'branch', 1],
      ['sold', 'set', 0],
      ['helped', 'set', 1],
    ]);
  });

  test('fails if the model never names a case, and ends the part where a case ends it', async () => {
    verifies('flow.branch.decide');
    const member = await workspace();
    answers('unsure', ['I cannot decide.']);
    answers('nowhere', ['{"case": "none"}']);
    const [unsure, nowhere] = await Promise.all([
      startExecution(member, routing('unsure'), mail),
      startExecution(member, routing('nowhere'), mail),
    ]);
    const failed = await untilExecution(member, unsure, 'failed');
    expect(failed.execution_context.failure.code).toBe('output_invalid');
    expect((await untilExecution(member, nowhere, 'completed')).conclusion.output).toEqual({ case: 'none' });
  });

  test('is refused with conditions, a single case or a way out, and other branches need conditions', async () => {
    verifies('flow.branch.decide', 'flow.checks');
    const { api } = await workspace();
    const cases = [
      { name: 'a', when: 'true', next: 'sold' },
      { name: 'b', next: null },
    ];
    const refused: [object, string][] = [
      [{ cases }, 'steps.route.cases.a.when: is not used with decide'],
      [{ cases: cases.slice(1) }, 'a model needs at least two cases'],
      [{ otherwise: 'sold' }, 'steps.route.otherwise: is not used with decide'],
      [{ decide: undefined }, 'steps.route.cases.sales.when: is required without decide'],
    ];
    for (const [change, problem] of refused)
      expect(await api.post('/agentflow', routing('m', change))).toMatchObject(
        refusal(422, 'validation_failed', problem),
      );
  });
});

describe('inputs', () => {
  const flow = {
    name: 'Ordered',
    initialAgent: 'a',
    steps: [{ _id: 'a', type: 'set', values: { n: 'inputs.order.count' } }],
    input_schema: order,
  };
  const problem = 'inputs.order.count: must be >= 1';

  test('of /execute_flow, run-agent and its dry run must match input_schema', async () => {
    verifies('flow.typed.inputs');
    const member = await workspace();
    const { api, projectID } = member;
    const { body } = await api.post(`/agentflow?projectID=${projectID}`, flow);
    expect(body.input_schema).toEqual(order);
    expect(await api.post(`/agentflow/${body._id}/promote`, {})).toMatchObject({ status: 200 });
    const wrong = { order: { count: 0 } };
    const request = { agentflow_id: body._id, goal: 'Count' };
    const refused = refusal(422, 'validation_failed', problem);
    expect(await api.post('/execute_flow', { ...request, input_variables: wrong })).toMatchObject(refused);
    expect(await api.post('/execute_flow', { ...request, runtime_inputs: wrong })).toMatchObject(refused);
    expect(await api.post('/execute_flow', request)).toMatchObject(
      refusal(422, 'validation_failed', 'inputs.order: is required'),
    );
    const call = { ...request, inputs: wrong };
    const gateway = bearerClient(member.apiKey, api.url);
    for (const change of [{}, { dry_run: true }])
      expect(JSON.stringify(await gateway.post('/v1/run-agent', { ...call, ...change }))).toContain(problem);
    const right = { ...request, inputs: { order: { count: 2 } } };
    const started = await gateway.post('/v1/run-agent', right);
    expect(started).toMatchObject({ status: 200 });
    const run = await untilExecution(member, started.body.execution_id, 'completed');
    expect(run.conclusion.output).toEqual({ n: 2 });
  });

  test('of a rerun and of a flow step must match too', async () => {
    verifies('flow.typed.inputs');
    const member = await workspace();
    const { api } = member;
    const id = await startExecution(member, flow, { input_variables: { order: { count: 2 } } });
    await untilExecution(member, id, 'completed');
    expect(await moveExecution(member, id, 'rerun', { input_variables: { order: { count: 0 } } })).toMatchObject(
      refusal(422, 'validation_failed', problem),
    );
    const { agentflow_id } = (await api.get(`/execute_flow/${id}`)).body;
    const step = { _id: 'call', type: 'flow', agentflow_id, inputs: { order: '{"count": 0}' } };
    const parent = await startExecution(member, { name: 'Parent', initialAgent: 'call', steps: [step] });
    const { execution_context } = await untilExecution(member, parent, 'failed');
    expect(execution_context.failure).toMatchObject({ code: 'validation_failed', message: problem });
  });
});

describe('a schema', () => {
  const deep = (depth: number): object => (depth === 0 ? {} : { type: 'array', items: deep(depth - 1) });
  test.each([
    ['that is none', { type: 'objekt' }, 'output_schema.type: must be one of'],
    ['with a wrong keyword', { type: 'object', required: 'total' }, 'output_schema.required: must be a list'],
    ['of another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'output_schema.$schema: must be'],
    ['with a remote reference', { $ref: 'https://example.com/s.json' }, 'output_schema.$ref: must refer to a part'],
    ['with a reference to nothing', { $ref: '#/$defs/none' }, "can't resolve reference"],
    ['with an id', { $id: 'https://example.com/s.json' }, 'output_schema.$id: is not allowed'],
    ['that refers to itself', { anyOf: [{ $ref: '#' }, { type: 'null' }] }, 'refers to itself without end'],
    ['with a wrong pattern', { type: 'string', pattern: '(' }, 'Invalid regular expression'],
    ['with a slow pattern', { type: 'string', pattern: '^(a+)+$' }, 'could not be checked within 5 s'],
    ['that is too large', { description: 'x'.repeat(70_000) }, 'must have at most 65536 characters'],
    ['that is nested too deeply', deep(70), 'nested'],
  ])('%s is refused', async (_what, schema, problem) => {
    verifies('flow.typed.schemas');
    const { api } = await workspace();
    const answer = await api.post('/agentflow', { name: 'Wrong', output_schema: schema });
    expect([400, 422]).toContain(answer.status);
    expect(answer.body.error_description).toContain(problem);
  });

  test('has problems with their paths in all places, and a recursive one is accepted', async () => {
    verifies('flow.typed.schemas');
    const { api } = await workspace();
    const agents = [counter('m', { output_schema: { type: 7 } })];
    for (const type of ['array', ['string', 'null']]) {
      const { body } = await api.post('/agentflow', { name: 'Wrong', agents, input_schema: { type } });
      expect(body).toMatchObject({
        error: 'validation_failed',
        error_description: expect.stringContaining('input_schema.type: must be "object"'),
      });
    }
    const wrong = { name: 'Wrong', agents, input_schema: { properties: { a: { type: 'x' } } } };
    const { status, body: refused } = await api.post('/agentflow', wrong);
    expect(status).toBe(422);
    expect(refused.error_description).toContain('input_schema.properties.a.type');
    expect(refused.error_description).toContain('agents.counter.output_schema.type');
    const tree = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } };
    const { body } = await api.post('/agentflow', { name: 'Tree', agents: [counter('m', { output_schema: tree })] });
    expect((await api.get(`/agentflow/${body._id}`)).body.agents[0].output_schema).toEqual(tree);
    const cleared = await api.patch(`/agentflow/${body._id}`, { input_schema: tree });
    expect(cleared.body.input_schema).toEqual(tree);
    expect((await api.patch(`/agentflow/${body._id}`, { input_schema: null })).body.input_schema).toBeNull();
  });
});
