import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createActionActivities } from '../../activities/agentflow-execution.js';
import { createCallAction, createPrepareAction } from '../../src/domain/actions/call-action.js';
import type { Act } from '../../src/domain/actions/act.js';
import { createHttpClient, type HttpClient } from '../../src/outbound/http-client.js';
import type { AgentflowExecutionActivities } from '../../workflows/agentflow-execution/activities.js';
import type { ActionPlan } from '../../workflows/agentflow-execution/messages.js';
import type { SchemaField } from '../../workflows/agentflow-execution/schema-field.js';
import type { ActRequest } from '../../workflows/agentflow-execution/steps/action.js';
import type { StepContext } from '../../workflows/agentflow-execution/steps/context.js';
import type { StepResult } from '../../workflows/agentflow-execution/steps/definition.js';
import { noExchanges } from '../support/exchanges.js';
import { activityEnvironment } from '../support/activity-environment.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';
import { eventually } from '../support/eventually.js';

const server = await useHttpSink();
const http = createHttpClient({ allowPrivateTargets: true });
/** These actions have no connector, so no connector is read or decrypted. */
const activitiesWith = (client: HttpClient) =>
  createActionActivities(ungoverned(client), { execution_deltas: undefined as never }, noExchanges);

/** The rules of acts have their own tests. */
function ungoverned(client: HttpClient): Act {
  const call = createCallAction(createPrepareAction({ http: client } as Parameters<typeof createPrepareAction>[0]));
  return async (request, options) => ({ output: await call(request, options) });
}

const { callAction } = activitiesWith(http);

function field(field_id: string, type = 'string', required = true): SchemaField {
  return { field_id, label: field_id, type, required, description: '' };
}

interface Change {
  path?: string;
  action?: Partial<ActionPlan>;
  context?: Partial<StepContext>;
}

function request({ path = '/', action, context }: Change = {}): ActRequest {
  return {
    idempotency_key: 'execution/agent/skill/ação',
    project_id: 'project',
    connector_id: null,
    after_seq: 0,
    action: {
      _id: 'act',
      name: 'Look up',
      category: 'restful',
      method: 'POST',
      endpoint: server.url + path,
      is_terminal: true,
      next_action_id: null,
      input_schema: { fields: [] },
      output_schema: { fields: [] },
      ...action,
    },
    context: {
      goal: 'the goal',
      input_variables: {},
      runtime_inputs: {},
      documents: [],
      outputs: [],
      actions: [],
      ...context,
    },
    run: {
      ...{ execution_id: 'execution', organization_id: 'organization', executed_by: 'person', started_by: 'person' },
      ...{ agentflow_id: 'flow', agentflow_name: 'flow', agentflow_version: 0, agent_id: 'agent', agent_title: '' },
      tokens_spent: 0,
    },
  };
}

/** Replaces the usual limit of 100 s, for which no test waits, and shows that a limit is set at all. */
function shortened(client: HttpClient, timeoutMs: number): HttpClient {
  return {
    ...client,
    request: (asked) => {
      expect(asked.timeoutMs).toBe(100_000);
      return client.request({ ...asked, timeoutMs });
    },
  };
}

function run(change: Change, attempt = 1, environment = activityEnvironment(attempt), activity = callAction) {
  return environment.run<[ActRequest], StepResult<unknown>, AgentflowExecutionActivities['callAction']>(
    activity,
    request(change),
  );
}

function answer(
  path: string,
  status: number,
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) {
  server.answer(path, (_, res) => void res.writeHead(status, headers).end(body));
}

beforeEach(() => void (server.requests.length = 0));
afterAll(() => http.close());

describe('the request of a restful action', () => {
  test('takes each field from the nearest source that has it and sends the fields as JSON', async () => {
    verifies('execution.actions.restful', 'execution.actions.idempotency-key');
    const fields = ['own', 'run', 'variable', 'answer', 'goal', 'optional'].map((id) =>
      field(id, 'string', id !== 'optional'),
    );
    const { value, attempts } = await run(
      {
        action: { input_schema: { fields } },
        context: {
          runtime_inputs: { act: { own: '1' }, own: 'no', run: '2' },
          input_variables: { own: 'no', run: 'no', variable: '3' },
          actions: [{ action_id: 'before', skill_id: 's', name: 'Before', output: { variable: 'no', answer: '4' } }],
        },
      },
      3,
    );
    expect(value).toEqual({ ok: true, path: '/' });
    expect(attempts).toBe(3);
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      key: 'execution/agent/skill/a%C3%A7%C3%A3o',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
    });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      own: '1',
      run: '2',
      variable: '3',
      answer: '4',
      goal: 'the goal',
    });
  });

  test.each(['GET', 'delete'])('puts the input of %s into the query and sends no body', async (method) => {
    const fields = [field('q'), field('list', 'array'), field('n', 'number')];
    await run({
      path: '/search?v=1',
      action: { method, input_schema: { fields } },
      context: { input_variables: { q: 'a&b=ü', list: [1], n: 0 } },
    });
    expect(server.requests[0]).toMatchObject({
      method: method.toUpperCase(),
      path: '/search?v=1&q=a%26b%3D%C3%BC&list=%5B1%5D&n=0',
      body: '',
    });
  });

  test('has no value for a field with the name of a property of objects', async () => {
    await run({ action: { input_schema: { fields: [field('constructor', 'string', false)] } } });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({});
  });

  test('URL-encodes every value in the endpoint', async () => {
    await run({ path: '/items/{{ id }}?by={{ goal }}', context: { input_variables: { id: 'a/../b?c' } } });
    expect(server.requests[0]?.path).toBe('/items/a%2F..%2Fb%3Fc?by=the%20goal');
  });

  test.each<[string, Change]>([
    ['missing', { action: { input_schema: { fields: [field('secret_id')] } } }],
    [
      'null',
      { action: { input_schema: { fields: [field('secret_id')] } }, context: { input_variables: { secret_id: null } } },
    ],
    ['inherited', { action: { input_schema: { fields: [field('toString')] } } }],
    ...(['string', 'number', 'integer', 'boolean', 'object', 'array'] as const).map((type): [string, Change] => [
      `no ${type}`,
      {
        action: { input_schema: { fields: [field('x', type, false)] } },
        context: { input_variables: { x: type === 'string' ? 1 : 'one' } },
      },
    ]),
  ])('is refused with the name of the field if the field is %s', async (_, change) => {
    const name = change.action?.input_schema?.fields[0]?.field_id;
    const failure = { type: 'validation_failed', nonRetryable: true, message: expect.stringContaining(`"${name}"`) };
    await expect(run(change)).rejects.toMatchObject(failure);
    expect(server.requests).toHaveLength(0);
  });

  test.each([
    ['a variable as its host', { action: { endpoint: 'http://{{ goal }}/x' } }],
    ['a variable as its beginning', { action: { endpoint: '{{ goal }}/x' } }],
    ['a variable that ends its host', { action: { endpoint: 'http://example.com{{ goal }}/x' } }],
    ['another scheme', { action: { endpoint: 'file:///etc/passwd' } }],
    ['no URL', { action: { endpoint: '' } }],
    ['a missing variable', { path: '/{{ unknown }}' }],
    ['a value that climbs the path', { path: '/a/{{ id }}/secret', context: { input_variables: { id: '..' } } }],
    ['an unknown method', { action: { method: 'TRACE' } }],
  ] satisfies [string, Change][])('is refused for an endpoint with %s', async (_, change) => {
    await expect(run(change)).rejects.toMatchObject({ type: 'validation_failed', nonRetryable: true });
    expect(server.requests).toHaveLength(0);
  });

  test('of another category needs a connector', async () => {
    await expect(run({ action: { category: 'mail' } })).rejects.toMatchObject({
      type: 'unconfigured',
      nonRetryable: true,
    });
  });

  test('takes the arguments of a tool call before variables and earlier answers, and validates them against the schema', async () => {
    verifies('action.schemas');
    const asTool = (values: Record<string, unknown>) => {
      const made = request({
        path: '/tool/{{ inputs.id }}',
        action: { input_schema: { fields: [field('id'), field('note', 'string', false)] } },
        context: {
          input_variables: { note: 'given' },
          actions: [{ action_id: 'a', skill_id: 's', name: 'A', output: { id: 'earlier' } }],
        },
      });
      return activityEnvironment().run<[ActRequest], StepResult<unknown>, AgentflowExecutionActivities['callAction']>(
        callAction,
        { ...made, input: { arguments: values } },
      );
    };
    await asTool({ id: 'mine', unknown: 1 });
    expect(server.requests).toMatchObject([{ path: '/tool/mine', body: '{"note":"given"}' }]);
    for (const values of [{}, { id: 7 }])
      await expect(asTool(values)).rejects.toMatchObject({
        type: 'validation_failed',
        message: expect.stringContaining('"id"'),
      });
    expect(server.requests).toHaveLength(1);
  });

  test('sends each field to its place', async () => {
    verifies('action.fields.places');
    const place = (name: string, type: string, at?: SchemaField['in'], value?: unknown): SchemaField => ({
      ...field(name, type, false),
      ...(at && { in: at }),
      ...(value !== undefined && { value }),
    });
    const fields = [
      place('id', 'string'),
      place('ids', 'array', 'query'),
      place('X-Own', 'string', 'header', 'of {{ id }}'),
      place('kind', 'string', 'path', 'claims'),
      place('flags', 'object', undefined, { now: '{{ goal }}', list: ['{{ id }}', 1] }),
      place('note', 'string'),
      place('both', 'string', 'body'),
    ];
    await run({
      path: '/{{ kind }}/{{ id }}?b={{ both }}',
      action: { input_schema: { fields } },
      context: { input_variables: { id: 'a/b', ids: [1, 'two'], note: 'n', both: 'x', kind: 'not this', flags: 0 } },
    });
    expect(server.requests).toMatchObject([
      { path: '/claims/a%2Fb?b=x&ids=1&ids=two', headers: { 'x-own': 'of a/b' } },
    ]);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      ...{ flags: { now: 'the goal', list: ['a/b', 1] }, note: 'n', both: 'x' },
    });
  });

  test.each([
    ['a value that the address only compares', '/x{% if id %}/y{% endif %}', { id: '1' }, '{"id":"1"}'],
    ['a value of which the address has a part', '/x/{{ id.a }}', { id: { a: 1 } }, '{"id":{"a":1}}'],
    ['another value than that in the address', '/x/{{ id }}', { id: '1' }, '{"id":"2"}', { act: { id: '2' } }],
  ] as [string, string, object, string, object?][])('also sends %s', async (_, path, inputs, body, runtime = {}) => {
    verifies('action.fields.places');
    await run({
      path,
      action: { input_schema: { fields: [field('id', 'any')] } },
      context: { input_variables: { ...inputs }, runtime_inputs: { ...runtime } },
    });
    expect(server.requests).toMatchObject([{ body }]);
  });

  test.each([
    ['a header of two lines', { in: 'header', value: 'a\nx-evil: 1' }, '"x-own"'],
    ['a template without its variable', { value: '{{ unknown }}' }, '"unknown"'],
    ['a value of another type', { type: 'integer', value: '{{ goal }}' }, '"x-own"'],
  ] as const)('is refused for %s', async (_, change, named) => {
    const own = { ...field('x-own'), ...change };
    await expect(run({ action: { input_schema: { fields: [own] } } })).rejects.toMatchObject({
      ...{ type: 'validation_failed', nonRetryable: true, message: expect.stringContaining(named) },
    });
    expect(server.requests).toHaveLength(0);
  });

  test('keeps a default that is no template, and renders one that is', async () => {
    const fields = [field('old'), field('new'), field('mine')];
    const made = request({
      action: { input_schema: { fields } },
      context: { input_variables: { mine: '{{ goal }}' } },
    });
    await activityEnvironment().run(callAction, {
      ...made,
      input: { defaults: { old: 'a {{ b', new: 'to {{ goal }}', mine: 'not used' } },
    });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      old: 'a {{ b',
      new: 'to the goal',
      mine: '{{ goal }}',
    });
  });

  test('refuses private targets unless they are allowed', async () => {
    const guarded = createHttpClient({ allowPrivateTargets: false });
    const call = run({}, 1, activityEnvironment(), activitiesWith(guarded).callAction);
    await expect(call).rejects.toMatchObject({ type: 'target_refused', nonRetryable: true });
    await guarded.close();
  });
});

describe('the answer to a restful action', () => {
  test('is a permanent refusal for a client error status', async () => {
    verifies('execution.steps.not-retried');
    answer('/refused', 404, '{"error":"no such claim"}');
    const failure = run({ path: '/refused' }, 2);
    await expect(failure).rejects.toMatchObject({
      type: 'action_refused',
      nonRetryable: true,
      details: [{ attempt: 2, status: 404 }],
    });
    await expect(failure).rejects.toThrow('status 404: {"error":"no such claim"}');
    expect(server.requests).toHaveLength(1);
  });

  test('is that of the address to which a redirect leads', async () => {
    verifies('action.restful.redirects');
    answer('/moved', 302, '', { location: `${server.url}/inside` });
    expect((await run({ path: '/moved' })).value).toEqual({ ok: true, path: '/inside' });
    expect(server.requests).toMatchObject([{ method: 'POST' }, { method: 'GET', body: '' }]);
  });

  test('is a permanent refusal for a redirect without an address', async () => {
    answer('/nowhere', 302, '', {});
    await expect(run({ path: '/nowhere' })).rejects.toMatchObject({ type: 'action_refused', nonRetryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test('can be retried if the server says so', async () => {
    answer('/busy', 429, 'come back later', { 'retry-after': '17' });
    const failure = run({ path: '/busy' }, 4);
    const details = [{ attempt: 4, status: 429 }];
    await expect(failure).rejects.toMatchObject({
      type: 'action_unavailable',
      nonRetryable: false,
      details,
      nextRetryDelay: 17_000,
    });
    await expect(failure).rejects.toThrow('status 429: come back later');
    expect(server.requests).toHaveLength(1);
  });

  test('must fit the output schema', async () => {
    verifies('action.schemas');
    const action = { output_schema: { fields: [field('id')] } };
    await expect(run({ action })).rejects.toMatchObject({
      type: 'validation_failed',
      nonRetryable: true,
      message: expect.stringContaining('"id"'),
    });
  });

  test('is aborted at its limits of size and time', async () => {
    verifies('action.restful.bounded');
    let sent = 0;
    server.answer('/endless', (_, res) => {
      const write = () => {
        if (!res.destroyed) res.write(Buffer.alloc(64 * 1024), () => setImmediate(write));
        sent += 64 * 1024;
      };
      write();
    });
    await expect(run({ path: '/endless' })).rejects.toMatchObject({ type: 'too_large', nonRetryable: true });
    expect(sent).toBeLessThan(10_000_000);
    const release = server.hold('/silent');
    const within = activitiesWith(shortened(http, 300));
    await expect(run({ path: '/silent' }, 1, activityEnvironment(), within.callAction)).rejects.toMatchObject({
      type: 'timeout',
      nonRetryable: false,
    });
    release();
  });

  test('is refused at 10 MB, and a broken connection is retried', async () => {
    server.answer('/huge', (_, res) => void res.end(Buffer.alloc(10_000_000)));
    await expect(run({ path: '/huge' })).rejects.toMatchObject({ type: 'too_large', nonRetryable: true });
    server.answer('/reset', (_, res) => void res.socket?.resetAndDestroy());
    await expect(run({ path: '/reset' })).rejects.toMatchObject({ type: 'unreachable', nonRetryable: false });
  });
});

describe('a slow action', () => {
  test('heartbeats while it waits', async () => {
    const environment = activityEnvironment();
    const release = server.hold('/slow');
    let beats = 0;
    environment.on('heartbeat', () => {
      beats += 1;
      if (beats === 2) release();
    });
    await run({ path: '/slow' }, 1, environment);
    expect(beats).toBeGreaterThanOrEqual(2);
  });

  test('ends immediately as cancelled when its activity is cancelled', async () => {
    const environment = activityEnvironment();
    const release = server.hold('/cancelled');
    const call = run({ path: '/cancelled' }, 1, environment);
    await eventually(() => expect(server.seen('/cancelled')).toHaveLength(1));
    environment.cancel();
    await expect(call).rejects.toMatchObject({ name: 'CancelledFailure' });
    release();
  });
});
