import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { executionWorkflowId } from '../../../../workflows/agentflow-execution/messages.js';
import { newId } from '../../../../src/base/ids.js';
import { connectorOf, field, flowOf, outputsOf, run } from '../../../support/connectors.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { testRun } from '../../../support/run.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const server = await useHttpSink();
/** Another origin: requests to it must not contain a credential. */
const elsewhere = await useHttpSink();

describe('a restful connector', () => {
  test.each([
    ['header', { type: 'header', name: 'X-Api-Token', value: 'hdr-s3cret' }, { 'x-api-token': 'hdr-s3cret' }],
    ['bearer', { type: 'bearer', token: 'brr-s3cret' }, { authorization: 'Bearer brr-s3cret' }],
    [
      'basic',
      { type: 'basic', username: 'ada', password: 'bsc-s3cret' },
      { authorization: `Basic ${Buffer.from('ada:bsc-s3cret').toString('base64')}` },
    ],
  ])('adds its %s only to calls below its base URL', async (kind, auth, expected) => {
    verifies('action.restful.authentication');
    const workspace = await createWorkspace(deps);
    const base = `/auth-${kind}/v1`;
    const { _id } = await connectorOf(workspace, 'restful', {
      base_url: `${server.url}${base}/`,
      auth,
      headers: { 'x-own': 'own-s3cret' },
    });
    server.answer(
      `${base}/away`,
      (_, res) => void res.writeHead(302, { location: `${elsewhere.url}/auth-${kind}` }).end(),
    );
    server.answer(`${base}/out`, (_, res) => void res.writeHead(307, { location: `/auth-${kind}/v1-other` }).end());
    const get = { method: 'GET' };
    await run(
      workspace,
      _id,
      [
        { ...get, endpoint: '/items/{{ inputs.id }}' },
        { ...get, endpoint: `${server.url}${base}/whole` },
        { ...get, endpoint: `${server.url}/auth-${kind}/v1x` },
        { ...get, endpoint: `${elsewhere.url}/auth-${kind}` },
        { ...get, endpoint: '/away' },
        { ...get, endpoint: '/out' },
      ],
      { id: 'a b/c' },
    );
    const below = server.seen(`${base}/`);
    expect(below.map(({ path: at }) => at.slice(base.length))).toEqual(['/items/a%20b%2Fc', '/whole', '/away', '/out']);
    for (const { headers } of below) expect(headers).toMatchObject({ ...expected, 'x-own': 'own-s3cret' });
    const others = [
      ...server.seen(`/auth-${kind}/v1x`),
      ...server.seen(`/auth-${kind}/v1-other`),
      ...elsewhere.seen(`/auth-${kind}`),
    ];
    expect(others).toHaveLength(4);
    for (const { headers } of others)
      expect(JSON.stringify(headers)).not.toMatch(/s3cret|authorization|x-own|x-api-token/);
  });

  test('fetches a client-credentials token once, caches it, and fetches another after a 401', async () => {
    verifies('action.restful.authentication');
    const workspace = await createWorkspace(deps);
    let issued = 0;
    let good = 'token-1';
    server.answer(
      '/oauth/token',
      (_, res) =>
        void res
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ access_token: `token-${(issued += 1)}`, token_type: 'bearer', expires_in: 3600 })),
    );
    server.answer(
      '/oauth/api',
      ({ headers }, res) =>
        void (headers.authorization === `Bearer ${good}` ? res.end('{}') : res.writeHead(401).end()),
    );
    const auth = {
      type: 'client_credentials',
      token_url: `${server.url}/oauth/token`,
      client_id: 'the client',
      client_secret: 'cc-s3cret',
      scope: 'a b',
    };
    const { _id } = await connectorOf(workspace, 'restful', { base_url: `${server.url}/oauth/api`, auth });
    const call = { method: 'POST', endpoint: '/x' };
    await run(workspace, _id, [call, call, call]);
    const [token, ...more] = server.seen('/oauth/token');
    expect(more).toHaveLength(0);
    expect(Object.fromEntries(new URLSearchParams(token?.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'a b',
    });
    expect(Buffer.from(token?.headers.authorization?.slice(6) ?? '', 'base64').toString()).toBe('the+client:cc-s3cret');
    good = 'token-2';
    await run(workspace, _id, [call]);
    expect(issued).toBe(2);
    good = 'never again';
    const failed = await run(workspace, _id, [call], {}, 'failed');
    expect(issued).toBe(3);
    expect(failed.conclusion ?? JSON.stringify(failed)).not.toContain('s3cret');
  });

  test.each([
    [
      'paused',
      async ({ api, projectID }: Workspace, id: string) =>
        void (await api.post(`/connectors/${projectID}/${id}/status`, { status: 'paused' })),
      'unconfigured',
    ],
    [
      'deleted',
      async ({ api, projectID }: Workspace, id: string) => void (await api.delete(`/connectors/${projectID}/${id}`)),
      'not_found',
    ],
    [
      'of another project',
      async (_: Workspace, id: string) =>
        void (await deps.mongo.collections.connectors.updateOne({ _id: id }, { $set: { projectID: newId() } })),
      'not_found',
    ],
    [
      'of another category',
      async (_: Workspace, id: string) =>
        void (await deps.mongo.collections.connectors.updateOne({ _id: id }, { $set: { category: 'mail' } })),
      'validation_failed',
    ],
  ])('that is %s is not called, and the step fails once', async (_, change, code) => {
    const workspace = await createWorkspace(deps);
    const where = `/unusable-${newId()}`;
    const { _id } = await connectorOf(workspace, 'restful', { base_url: server.url + where });
    await change(workspace, _id);
    const id = await startExecution(workspace, flowOf(_id, { endpoint: '/x' }));
    await untilExecution(workspace, id, 'failed');
    const [step] = (await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps;
    expect([
      step.attempts,
      (await deps.mongo.collections.executions.findOne({ _id: id }))?.execution_context,
      server.seen(where),
    ]).toMatchObject([1, {}, []]);
    expect(JSON.stringify((await workspace.api.get(`/execute_flow/${id}/monitoring`)).body)).toContain(
      code === 'unconfigured' ? 'not active' : code === 'not_found' ? 'was not found' : 'category',
    );
  });
});

describe('an action', () => {
  test.each([
    ['input', { input_schema: { fields: [field('claim', 'number')] } }, 0],
    ['output', { output_schema: { fields: [field('claim')] } }, 1],
  ])('fails its step if the %s does not match its schema, and names the field', async (side, schema, calls) => {
    verifies('action.schemas');
    const workspace = await createWorkspace(deps);
    const where = `/schema-${side}-${newId()}`;
    const id = await startExecution(workspace, flowOf(null, { endpoint: server.url + where, ...schema }), {
      input_variables: { claim: 'one' },
    });
    await untilExecution(workspace, id, 'failed');
    const [step] = (await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps;
    expect(step).toMatchObject({ status: 'failed', attempts: 1, error: expect.stringContaining('"claim"') });
    expect(server.seen(where)).toHaveLength(calls);
  });

  test('is called once if its answer is nested too deep to look for secrets in it', async () => {
    verifies('action.restful.authentication');
    const workspace = await createWorkspace(deps);
    const at = `/deep/${workspace.projectID}`;
    const auth = { type: 'bearer', token: 'brr-s3cret' };
    const { _id } = await connectorOf(workspace, 'restful', { base_url: server.url, auth });
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    server.answer(at, (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(deep));
    const { execution_context } = await run(workspace, _id, [{ endpoint: at }], {}, 'failed');
    expect(execution_context.failure).toMatchObject({
      code: 'validation_failed',
      message: expect.stringContaining('nested deeper'),
    });
    expect(server.seen(at)).toHaveLength(1);
  });

  test('is retried as its server asks: after silence, after 500, and at the date of a 429', async () => {
    verifies('action.restful.hints');
    const workspace = await createWorkspace(deps);
    const where = `/hints-${newId()}`;
    const { _id } = await connectorOf(workspace, 'restful', { base_url: server.url, timeout_ms: 5000 });
    const came: number[] = [];
    let until = 0;
    server.answer(where, (_, res) => {
      came.push(Date.now());
      if (came.length === 1) return;
      if (came.length === 2) return void res.writeHead(500).end();
      if (came.length > 3) return void res.end('{}');
      until = Math.ceil(Date.now() / 1000) * 1000 + 3000;
      res.writeHead(429, { 'retry-after': new Date(until).toUTCString() }).end();
    });
    await run(workspace, _id, [{ endpoint: where }]);
    expect(came).toHaveLength(4);
    expect(came[3]).toBeGreaterThanOrEqual(until - 50);
    expect(server.seen(where).map(({ key }) => key)).toEqual(Array(4).fill(server.seen(where)[0]?.key));
  });
});

describe('the account provider', () => {
  const account = { account_api_url: '', account_api_token: 'acc-s3cret' };

  test('sends the text of a messaging action', async () => {
    verifies('action.messaging');
    const workspace = await createWorkspace(deps);
    const { _id } = await connectorOf(workspace, 'messaging', {
      ...account,
      account_api_url: `${server.url}/messaging/api/v1`,
    });
    expect(
      (await workspace.api.post(`/connectors/${workspace.projectID}/${_id}/status`, { status: 'active' })).status,
    ).toBe(200);
    const execution = await run(workspace, _id, [{ category: 'messaging', endpoint: 'send_message' }], {
      chat_id: 'chat/1',
      text: 'Hello',
    });
    const [request, ...more] = server.seen('/messaging');
    expect(request).toMatchObject({
      method: 'POST',
      path: '/messaging/api/v1/chats/chat%2F1/messages',
      body: '{"text":"Hello"}',
      headers: { authorization: 'Bearer acc-s3cret' },
    });
    expect(request?.key).toBe(`${execution._id}/agent/skill/action_0`);
    expect(more).toHaveLength(0);
    const failed = await run(
      workspace,
      _id,
      [{ category: 'messaging', endpoint: 'send_message' }],
      { text: 'Hello' },
      'failed',
    );
    expect(JSON.stringify(failed.agents_output)).not.toContain('chat_id');
    expect(server.seen('/messaging')).toHaveLength(1);
  });

  test('executes a professional_network action for the connected account', async () => {
    verifies('action.professional-network');
    const workspace = await createWorkspace(deps);
    const { _id } = await connectorOf(workspace, 'professional_network', {
      ...account,
      account_api_url: `${server.url}/network`,
    });
    await deps.mongo.collections.connectors.updateOne(
      { _id },
      { $set: { status: 'active', account: { id: 'acc-1', name: null, verified_at: 1 } } },
    );
    const category = 'professional_network';
    await run(
      workspace,
      _id,
      [
        { category, endpoint: 'get_profile' },
        { category, endpoint: 'send_invitation' },
        { category, method: 'GET', endpoint: '/own/{{ inputs.identifier }}' },
      ],
      { identifier: 'ada', provider_id: 'p 1', message: 'Hi' },
    );
    expect(server.seen('/network').map(({ method, path: at, body }) => [method, at, body])).toEqual([
      ['GET', '/network/users/ada?account_id=acc-1', ''],
      ['POST', '/network/users/invite', JSON.stringify({ account_id: 'acc-1', provider_id: 'p 1', message: 'Hi' })],
      ['GET', '/network/own/ada', ''],
    ]);
    for (const { headers } of server.seen('/network')) expect(headers.authorization).toBe('Bearer acc-s3cret');
  });

  test('publishes the result of a content_creator action, and its answer is the output', async () => {
    verifies('action.content-creator');
    const workspace = await createWorkspace(deps);
    server.answer(
      '/content/posts',
      (_, res) => void res.writeHead(201, { 'content-type': 'application/json' }).end('{"post_id":"p1"}'),
    );
    const { _id, status } = await connectorOf(workspace, 'content_creator', {
      ...account,
      account_api_url: `${server.url}/content/`,
    });
    expect(status).toBe('active');
    const action = {
      category: 'content_creator',
      endpoint: 'create_post',
      output_schema: { fields: [field('post_id')] },
    };
    const execution = await run(workspace, _id, [action], { account_id: 'mine', text: 'News' });
    expect(server.seen('/content')).toMatchObject([
      { method: 'POST', path: '/content/posts', body: '{"account_id":"mine","text":"News"}' },
    ]);
    expect(outputsOf(execution)).toEqual([{ post_id: 'p1' }]);
  });
});

/** A history with its payloads read, as text. */
async function historyText(workflowId: string): Promise<string> {
  const history = await deps.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const text = String(historyToJSON(history));
  const payloads = [...text.matchAll(/"data":\s*"([A-Za-z0-9+/=]+)"/g)].map(([, data]) =>
    Buffer.from(data ?? '', 'base64').toString(),
  );
  expect(payloads.length).toBeGreaterThan(3);
  return text + payloads.join('\n');
}

test('a secret of a connector appears in no record, history, event, log or answer, even if its API repeats it', async () => {
  verifies('connector.secrets');
  const workspace = await createWorkspace(deps);
  const { api, projectID } = workspace;
  const secret = `s3cret-${newId()}`;
  const basic = Buffer.from(`ada:${secret}`).toString('base64');
  const where = `/echo-${newId()}`;
  server.answer(where, ({ headers, path: at }, res) => {
    if (at.includes('refuse')) return void res.writeHead(403).end(JSON.stringify(headers));
    res
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ headers, [headers.authorization ?? '']: secret }));
  });
  const config = {
    base_url: server.url + where,
    auth: { type: 'basic', username: 'ada', password: secret },
    headers: { 'x-own': `own ${secret}` },
  };
  const { _id, ...answer } = await connectorOf(workspace, 'restful', config);
  const done = await run(workspace, _id, [{ endpoint: '/echo' }]);
  const failed = await run(workspace, _id, [{ endpoint: '/refuse' }], {}, 'failed');
  expect(server.seen(where).map(({ headers }) => headers.authorization)).toEqual([`Basic ${basic}`, `Basic ${basic}`]);
  expect(JSON.stringify(outputsOf(done))).toContain('[secret]');

  const texts: Record<string, string> = {
    created: JSON.stringify(answer),
    read: JSON.stringify((await api.get(`/connectors/${projectID}/${_id}`)).body),
  };
  for (const { _id: id } of [done, failed]) {
    texts[`history ${id}`] = await historyText(executionWorkflowId(id));
    texts[`answer ${id}`] = JSON.stringify([
      (await api.get(`/execute_flow/${id}`)).body,
      (await api.get(`/execute_flow/${id}/monitoring`)).body,
    ]);
  }
  for (const [name, collection] of Object.entries(deps.mongo.collections))
    texts[name] = JSON.stringify(await (collection as any).find({}).toArray());
  for (const file of readdirSync(testRun().logs)) texts[file] = readFileSync(path.join(testRun().logs, file), 'utf8');
  expect(texts.execution_events).toContain(done._id);
  expect(texts.connectors).toContain(_id);
  const found = Object.entries(texts)
    .filter(([, text]) => text.includes(secret) || text.includes(basic))
    .map(([name]) => name);
  expect(found).toEqual([]);
  expect(texts.connectors).toMatch(/"config_sealed":"v1\./);
});
