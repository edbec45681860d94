import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, paginate } from '../../sdk/node/src/index.js';
import { verifies } from '../support/verifies.js';
import { all, refusalOf, startFakeService, type FakeService } from './fake-service.js';
import { python, pythonTests, pythonWithTools } from './python.js';
import { pythonTest } from '../support/python-test.js';

let service: FakeService;
beforeAll(async () => {
  service = await startFakeService();
});
afterAll(() => service.close());

describe('the connection of the Node client', () => {
  test('is read from the environment and from connection info', async () => {
    verifies('sdk.environment');
    service.answer({ status: 200 });
    service.apiBaseUrl = `${service.url}/elsewhere/v1`;
    const { gateway, platform } = inEnvironment(
      { SERVICE_WORKSPACE: `${service.url}/prefix/ws_p1/`, SERVICE_API_KEY: 'svc_sk_env' },
      () => createClient(),
    );
    await gateway.docs();
    await platform.agentflows.get('a/b');
    expect(service.infoPaths).toEqual(['/prefix/v1/connection-info']);
    expect(service.asked).toMatchObject([
      { path: '/elsewhere/v1/docs', headers: { authorization: 'Bearer svc_sk_env', 'x-fake-workspace': 'ws_p1' } },
      { path: '/elsewhere/agentflow/a%2Fb', headers: { 'x-api-key': 'svc_sk_env' } },
    ]);
  });

  test('is refused without a workspace or a key', () => {
    verifies('sdk.environment');
    const url = 'https://host/ws_p1';
    expect(() => inEnvironment({}, () => createClient({ apiKey: 'k' }))).toThrow(/SERVICE_WORKSPACE/);
    expect(() => inEnvironment({ SERVICE_WORKSPACE: url }, () => createClient())).toThrow(/SERVICE_API_KEY/);
    expect(createClient({ workspace: url, apiKey: 'k' }).projectId).toBe('p1');
  });

  test.each([
    'ws_p1',
    'https://host',
    'https://host/v1',
    'https://host/ws_',
    'ftp://host/ws_p1',
    'https://u:p@host/ws_p1',
    'https://host/ws_p1?x=1',
  ])('takes no %s', (workspace) => {
    expect(() => createClient({ workspace, apiKey: 'k' })).toThrow(/must be a workspace URL/);
  });

  test('sends no key from an HTTPS workspace to a plain HTTP address', async () => {
    const info: typeof fetch = async () =>
      Response.json({ apiBaseUrl: 'http://host/v1', workspaceHeader: 'X-Fake-Workspace' });
    const { gateway } = createClient({ workspace: 'https://host/ws_p1', apiKey: 'k', fetch: info });
    await expect(gateway.docs()).rejects.toThrow('no key is sent');
  });

  test('is retried after a failure, and loaded once after that', async () => {
    service.answer({ status: 200 });
    let failures = 1;
    const flaky: typeof fetch = async (input, init) => {
      failures -= 1;
      return failures < 0 ? fetch(input, init) : Promise.reject(new TypeError('fetch failed'));
    };
    const { gateway } = service.client({ fetch: flaky });
    await expect(gateway.docs()).rejects.toThrow('fetch failed');
    await gateway.docs();
    await gateway.docs();
    expect([service.infoPaths.length, service.asked.length]).toEqual([1, 2]);
  });
});

describe('the calls of the Node client', () => {
  test('repeat a platform POST with one idempotency key, and use another key for the next', async () => {
    service.answer({ status: 500 }, { status: 201, body: { _id: 'flow' } });
    const { platform } = service.client();
    await platform.agentflows.create({ name: 'a' });
    await platform.agentflows.create({ name: 'a' });
    await platform.request('POST', '/tag', { body: { name: 'a' } }, { idempotencyKey: 'mine' });
    const [first, second, third, fourth] = service.asked.map(({ headers }) => headers['idempotency-key']);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(fourth).toBe('mine');
  });

  test('reach every operation of the API reference in the project of the client', async () => {
    verifies('sdk.node', 'sdk.generated');
    service.answer({ status: 500 }, { status: 200, body: {} });
    const client = service.client();
    await client.call('post', '/tag', { body: { name: 'a' } });
    await client.call('get', '/{projectID}/execution_flows', { query: { status: 'failed' } });
    await client.call('get', '/tag', { query: { projectID: 'p2' } });
    await client.call('put', '/v1/projects/{projectId}/mode', { body: { mode: 'governed' } });
    await client.call('post', '/v1/approvals/{id}/approve', { params: { id: 'a/1' } });
    const sent = service.asked.map(({ method, path, headers }) => ({
      call: `${method} ${path}`,
      isOfGateway: headers.authorization !== undefined && headers['x-api-key'] === undefined,
      hasKey: headers['idempotency-key'] !== undefined,
    }));
    expect(sent).toEqual([
      { call: 'POST /tag?projectID=p1', isOfGateway: false, hasKey: true },
      { call: 'POST /tag?projectID=p1', isOfGateway: false, hasKey: true },
      { call: 'GET /p1/execution_flows?status=failed', isOfGateway: false, hasKey: false },
      { call: 'GET /tag?projectID=p2', isOfGateway: false, hasKey: false },
      { call: 'PUT /v1/projects/p1/mode', isOfGateway: true, hasKey: false },
      { call: 'POST /v1/approvals/a%2F1/approve', isOfGateway: true, hasKey: true },
    ]);
  });

  test('refuse an unknown operation and a missing parameter', () => {
    const { call } = service.client();
    expect(() => call('get', '/nothing' as '/tag')).toThrow('the API has no operation get /nothing');
    expect(() => call('get', '/task/{id}', {} as never)).toThrow('get /task/{id} needs params.id');
  });

  test('report a call that waits for approval as an error, and send it again with its token', async () => {
    service.answer(
      { status: 202, body: { lifecycle_id: 'l1', status: 'pending_approval', approval_id: 'a1', expires_at: 5 } },
      { status: 200 },
    );
    const { gateway } = service.client();
    const waiting = { status: 202, error: 'pending_approval', approval_id: 'a1', lifecycle_id: 'l1', expires_at: 5 };
    expect(await refusalOf(gateway.saveContext({ source: 'x' }))).toMatchObject(waiting);
    await gateway.saveContext({ source: 'x' }, { resumeToken: 'token' });
    expect(service.asked[1]?.headers['x-resume-token']).toBe('token');
  });

  test('read every page', async () => {
    const page = (id: string, next_cursor: string | null) => ({
      status: 200,
      body: { data: [{ _id: id }], total_count: 2, next_cursor },
    });
    service.answer(page('1', 'c'), page('2', null));
    expect(await all(paginate(service.client().platform.agentflows.list, { limit: 1 }))).toEqual([
      { _id: '1' },
      { _id: '2' },
    ]);
    expect(service.asked[1]?.path).toMatch(/limit=1&cursor=c$/);
  });

  test('follow events across an interrupted stream', async () => {
    const event = (seq: number) =>
      `id: ${seq}\nevent: step\ndata: ${JSON.stringify({ seq, type: 'step', at: 1, data: {} })}\n\n`;
    const words = `event: model_delta\ndata: ${JSON.stringify({ type: 'model_delta', at: 1, data: { text: 'Hello' } })}\n\n`;
    service.answer(
      { status: 200, body: `${event(1)}${event(2)}${words}id: 3\ndata: {"seq":` },
      { status: 200, body: ': still here\n\n' },
      { status: 200, body: event(3).replaceAll('\n', '\r\n') },
      { status: 204, body: '' },
    );
    const seen = await all(service.client().platform.executions.events('e1'));
    expect(seen.map((each) => (each.type === 'model_delta' ? each.data.text : 'seq' in each && each.seq))).toEqual([
      1,
      2,
      'Hello',
      3,
    ]);
    expect(service.asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '2', '3']);
  });

  test('stop following events after as many consecutive failures as attempts', async () => {
    service.answer({ status: 200 });
    let calls = 0;
    const failing: typeof fetch = async (input, init) => {
      if (typeof input === 'string' && input.endsWith('connection-info')) return fetch(input, init);
      calls += 1;
      throw new TypeError('fetch failed');
    };
    const events = service.client({ fetch: failing, maxAttempts: 3 }).platform.executions.events('e1');
    expect(await refusalOf(events.next())).toMatchObject({ message: 'fetch failed' });
    expect([calls, service.waits.length]).toEqual([3, 2]);
  });
});

describe('the Python client', () => {
  pythonTest('is read from the environment and from connection info', async () => {
    verifies('sdk.environment');
    await pythonTests('tests.test_client.Connection');
  });

  pythonTest('calls as the Node client does', async () => {
    await pythonTests('tests.test_client.Calls');
  });

  pythonTest(
    'does so asynchronously as well, and ends a cancelled call',
    async () => {
      verifies('sdk.python.async');
      await pythonTests('tests.test_async', {}, await pythonWithTools());
      // The first use installs the tools.
    },
    900_000,
  );

  pythonTest(
    'passes a strict type checker, also where the type of an event selects its data',
    async () => {
      verifies('sdk.python', 'sdk.typed-events');
      const { stdout } = await python(['-m', 'mypy', '--no-incremental'], {}, await pythonWithTools());
      expect(stdout).toMatch(/^Success: no issues found/);
    },
    900_000,
  );
});

/** The result of `make` with exactly these client variables. */
function inEnvironment<T>(variables: Record<string, string>, make: () => T): T {
  const names = ['SERVICE_WORKSPACE', 'SERVICE_API_KEY'];
  const before = names.map((name) => [name, process.env[name]] as const);
  const set = (name: string, value: string | undefined) =>
    value === undefined ? delete process.env[name] : (process.env[name] = value);
  for (const name of names) set(name, variables[name]);
  try {
    return make();
  } finally {
    for (const [name, value] of before) set(name, value);
  }
}
