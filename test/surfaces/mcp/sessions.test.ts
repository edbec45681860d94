import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createKey, createWorkspace, useDeps } from '../../support/fixture.js';
import { apiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { openEventStream } from '../../support/event-stream.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { sha256Hex } from '../../../src/base/hash.js';
import { bearer, connect, connectModern, useClients } from './clients.js';

const deps = useDeps();
useClients();

const accept = { accept: 'application/json, text/event-stream' };

/** Raw requests to `/mcp`, for what the SDK's client does not do. */
function rawMcp(apiKey: string | undefined, headers: Record<string, string> = {}) {
  return apiClient(testRun().url, { ...(apiKey === undefined ? {} : bearer(apiKey)), ...accept, ...headers });
}

function initialize(protocolVersion = '2025-11-25') {
  return {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  };
}

/** The message in the first event of a stream that has ended. */
function messageIn(body: string): any {
  return JSON.parse(/^data: (\{.*)$/m.exec(body)?.[1] ?? '{}');
}

async function openSession(apiKey: string): Promise<string> {
  const { headers } = await rawMcp(apiKey).post('/mcp', initialize());
  return headers.get('mcp-session-id') ?? '';
}

const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };

describe('POST /mcp', () => {
  test('negotiates every protocol version that the SDK supports, and offers its latest for an unknown one', async () => {
    verifies('mcp.versions', 'mcp.streamable-http.post');
    const { apiKey } = await createWorkspace(deps);
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07']) {
      const { status, headers, body } = await rawMcp(apiKey).post('/mcp', initialize(version));
      expect(status).toBe(200);
      expect(messageIn(body)).toMatchObject({
        result: { protocolVersion: version, serverInfo: { name: 'governed-context-service' } },
      });
      const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
      const versioned = version < '2025-06-18' ? session : { ...session, 'mcp-protocol-version': version };
      const list = await rawMcp(apiKey, versioned).post('/mcp', { jsonrpc: '2.0', id: 2, method: 'tools/list' });
      expect(messageIn(list.body.replace(/^[\s\S]*?event: message/, ''))).toMatchObject({
        result: { tools: expect.any(Array) },
      });
    }
    expect(messageIn((await rawMcp(apiKey).post('/mcp', initialize('1999-01-01'))).body)).toMatchObject({
      result: { protocolVersion: '2025-11-25' },
    });
    const session = { 'mcp-session-id': await openSession(apiKey) };
    expect((await rawMcp(apiKey, { ...session, 'mcp-protocol-version': '1999-01-01' }).post('/mcp', ping)).status).toBe(
      400,
    );
  });

  test('answers 400 without the required session and 404 for an unknown one', async () => {
    verifies('mcp.sessions.missing');
    const { apiKey } = await createWorkspace(deps);
    const missing = await rawMcp(apiKey).post('/mcp', ping);
    expect(missing).toMatchObject({
      status: 400,
      body: { jsonrpc: '2.0', error: { message: expect.stringContaining('Mcp-Session-Id') }, id: null },
    });
    expect((await rawMcp(apiKey).get('/mcp', { accept: 'text/event-stream' })).status).toBe(400);
    expect((await rawMcp(apiKey).delete('/mcp')).status).toBe(400);
    const unknown = rawMcp(apiKey, { 'mcp-session-id': '01980000-0000-4000-8000-000000000000' });
    for (const answer of [
      await unknown.post('/mcp', ping),
      await unknown.get('/mcp'),
      await unknown.delete('/mcp'),
      await unknown.post('/mcp', initialize()),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { error: { code: -32001 } } });
    }
    expect((await rawMcp(apiKey).post('/messages?session=nothing', ping)).status).toBe(404);
    expect((await rawMcp(apiKey).post('/messages', ping)).status).toBe(400);
  });

  test('accepts a session only from the caller who opened it', async () => {
    verifies('mcp.sessions.owner');
    const workspace = await createWorkspace(deps);
    const id = await openSession(workspace.apiKey);
    const sameUser = await createKey(deps, workspace);
    const stranger = (await createWorkspace(deps)).apiKey;
    for (const key of [sameUser, stranger]) {
      const foreign = rawMcp(key, { 'mcp-session-id': id });
      for (const answer of [await foreign.post('/mcp', ping), await foreign.get('/mcp'), await foreign.delete('/mcp')])
        expect(answer.status).toBe(404);
    }
    expect((await rawMcp(workspace.apiKey, { 'mcp-session-id': id }).post('/mcp', ping)).status).toBe(200);
  });

  test('refuses a session of the other transport', async () => {
    verifies('mcp.sessions.owner');
    const { apiKey } = await createWorkspace(deps);
    const id = await openSession(apiKey);
    expect((await rawMcp(apiKey).post(`/messages?session=${id}`, ping)).status).toBe(404);
  });

  test('answers 401 without a valid credential, with a link to get one', async () => {
    verifies('mcp.unauthorized');
    for (const path of ['/mcp', '/messages?session=x']) {
      const none = await rawMcp(undefined).post(path, initialize());
      expect(none).toMatchObject({
        status: 401,
        body: { error: 'invalid_token', error_description: 'missing bearer credential' },
      });
      const metadata = path === '/mcp' ? 'oauth-protected-resource/mcp' : 'oauth-protected-resource/sse';
      expect(none.headers.get('www-authenticate')).toMatch(
        new RegExp(
          `^Bearer resource_metadata="http.*/\\.well-known/${metadata}", scope="svc:query.read svc:docs.read .*svc:agent.run.*"$`,
        ),
      );
      const bad = await rawMcp('svc_sk_nothing').post(path, '{ not even JSON');
      expect(bad).toMatchObject({ status: 401, body: { error_description: 'api key invalid or revoked' } });
      expect(bad.headers.get('www-authenticate')).toContain('resource_metadata=');
    }
    expect((await rawMcp(undefined).get('/sse')).status).toBe(401);
    expect((await rawMcp(undefined).get('/mcp')).status).toBe(401);
    const { apiKey } = await createWorkspace(deps);
    const elsewhere = await rawMcp(apiKey, { 'x-service-workspace': 'ws_elsewhere' }).post('/mcp', initialize());
    expect(elsewhere).toMatchObject({ status: 403, body: { error: 'S2:resolve-scope' } });
  });

  test('refuses an invalid message and one that is too large', async () => {
    verifies('mcp.streamable-http.post');
    const { apiKey } = await createWorkspace(deps);
    const raw = rawMcp(apiKey, { 'mcp-session-id': await openSession(apiKey) });
    const json = { 'content-type': 'application/json' };
    expect(await raw.post('/mcp', '{"jsonrpc":', json)).toMatchObject({
      status: 400,
      body: { error: { code: -32700 } },
    });
    expect((await raw.post('/mcp', '', json)).status).toBe(400);
    for (const body of [{}, { jsonrpc: '1.0', id: 1, method: 'ping' }, [], 7, 'text', null]) {
      expect((await raw.post('/mcp', JSON.stringify(body), json)).status).toBe(400);
    }
    expect(
      (await raw.post('/mcp', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\\u0000"}}', json)).status,
    ).toBe(400);
    expect((await raw.post('/mcp', JSON.stringify(ping), { 'content-type': 'text/plain' })).status).toBe(400);
    expect(await raw.post('/mcp', { ...ping, params: { text: 'x'.repeat(2_000_000) } })).toMatchObject({
      status: 413,
      body: { error: { code: -32000 } },
    });
    expect((await raw.put('/mcp', ping)).headers.get('allow')).toBe('POST, GET, DELETE');
    expect((await raw.post('/mcp', ping)).status).toBe(200);
  });

  test('accepts batches in the version that has them', async () => {
    verifies('mcp.streamable-http.post');
    const { apiKey } = await createWorkspace(deps);
    const { headers } = await rawMcp(apiKey).post('/mcp', initialize('2025-03-26'));
    const raw = rawMcp(apiKey, { 'mcp-session-id': headers.get('mcp-session-id') ?? '' });
    const { status, body } = await raw.post('/mcp', [
      ping,
      { ...ping, id: 3 },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
    ]);
    expect(status).toBe(200);
    expect([...body.matchAll(/"id":(\d)/g)].map(([, id]) => id).sort()).toEqual(['2', '3']);
    expect(
      (
        await raw.post(
          '/mcp',
          Array.from({ length: 1000 }, () => ping),
        )
      ).status,
    ).toBe(400);
  });

  test.each(['2025-06-18', '2025-11-25'])('refuses a batch in %s, which does not have them', async (version) => {
    verifies('mcp.no-batches');
    const { apiKey } = await createWorkspace(deps);
    const { headers } = await rawMcp(apiKey).post('/mcp', initialize(version));
    const raw = rawMcp(apiKey, { 'mcp-session-id': headers.get('mcp-session-id') ?? '' });
    expect(await raw.post('/mcp', [ping, { ...ping, id: 3 }])).toMatchObject({
      status: 400,
      body: { error: { code: -32600, message: expect.stringContaining('batches') } },
    });
    expect((await raw.post('/mcp', ping)).status).toBe(200);
  });

  test.each(['*/*', 'text/html, */*;q=0.1'])('accepts Accept: %s', async (anything) => {
    verifies('mcp.accept-anything');
    const { apiKey } = await createWorkspace(deps);
    const { status, headers, body } = await rawMcp(apiKey, { accept: anything }).post('/mcp', initialize());
    expect([status, messageIn(body).result.protocolVersion]).toEqual([200, '2025-11-25']);
    const stream = await openEventStream(`${testRun().url}/mcp`, {
      ...bearer(apiKey),
      accept: anything,
      'mcp-session-id': headers.get('mcp-session-id') ?? '',
    });
    expect(stream.status).toBe(200);
    stream.leave();
    expect((await rawMcp(apiKey, { accept: 'text/html' }).post('/mcp', initialize())).status).toBe(406);
  });

  test('answers invalid parameters with -32602 and a readable message, in every generation', async () => {
    verifies('mcp.malformed');
    const { apiKey } = await createWorkspace(deps);
    const raw = rawMcp(apiKey, { 'mcp-session-id': await openSession(apiKey) });
    const wrong = [
      { method: 'tools/call', params: { name: 7 }, problem: /^tools\/call: name: / },
      { method: 'tools/call', params: { name: 'docs', arguments: 'none' }, problem: /^tools\/call: arguments: / },
      { method: 'tools/call', params: { name: 'docs', arguments: [] }, problem: /^tools\/call: arguments: / },
      { method: 'tools/call', problem: /^tools\/call: name: / },
      { method: 'resources/read', params: { uri: 1 }, problem: /^resources\/read: uri: / },
      {
        method: 'prompts/get',
        params: { name: 'write_query', arguments: { question: 1 } },
        problem: /^prompts\/get: arguments\.question: /,
      },
      { method: 'tasks/get', params: {}, problem: /^tasks\/get: taskId: / },
      ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].map((method) => ({
        ...{ method, params: { cursor: 'page-2' } },
        problem: new RegExp(`^${method}: cursor: is not a cursor of this list`),
      })),
    ];
    const modern = await connectModern(apiKey);
    for (const { method, params, problem } of wrong) {
      const { error } = messageIn((await raw.post('/mcp', { jsonrpc: '2.0', id: 4, method, params })).body);
      expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(problem) });
      expect(error.message).not.toMatch(/[[{]/);
      await expect(modern.request({ method, params } as never, z.looseObject({}))).rejects.toMatchObject({
        code: -32602,
        message: expect.stringMatching(problem.source.slice(1)),
      });
    }
  });

  test('refuses a foreign Origin or Host on every path', async () => {
    verifies('mcp.rebinding');
    const { apiKey } = await createWorkspace(deps);
    for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', 'file://']) {
      for (const path of ['/mcp', '/messages?session=x'])
        expect((await rawMcp(apiKey, { origin }).post(path, initialize())).status).toBe(403);
      expect((await rawMcp(apiKey, { origin }).get('/sse')).status).toBe(403);
      expect((await rawMcp(undefined, { origin }).get('/mcp')).status).toBe(403);
    }
    expect((await rawMcp(apiKey, { origin: 'http://localhost:6274' }).post('/mcp', initialize())).status).toBe(200);
    expect(await statusForHost('evil.example', apiKey)).toBe(403);
    expect(await statusForHost('localhost:1234', apiKey)).toBe(200);
  });
});

describe('GET and DELETE /mcp', () => {
  test('let the newest stream of a session take over, which DELETE ends with it', async () => {
    verifies('mcp.streamable-http.get', 'mcp.streamable-http.delete', 'mcp.streamable-http.takeover');
    const { apiKey } = await createWorkspace(deps);
    const id = await openSession(apiKey);
    const headers = { ...bearer(apiKey), accept: 'text/event-stream', 'mcp-session-id': id };
    const stream = await openEventStream(`${testRun().url}/mcp`, headers);
    expect(stream).toMatchObject({ status: 200 });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const newest = await openEventStream(`${testRun().url}/mcp`, headers);
    expect(newest).toMatchObject({ status: 200 });
    await stream.ended;
    expect((await rawMcp(apiKey, { 'mcp-session-id': id }).delete('/mcp')).status).toBe(200);
    await newest.ended;
    expect((await rawMcp(apiKey, { 'mcp-session-id': id }).post('/mcp', ping)).status).toBe(404);
  });

  test('the SDK’s client ends its session', async () => {
    verifies('mcp.streamable-http.delete');
    const { apiKey } = await createWorkspace(deps);
    const { client, transport } = await connect(apiKey);
    const id = transport.sessionId ?? '';
    expect(await client.ping()).toEqual({});
    await transport.terminateSession();
    expect((await rawMcp(apiKey, { 'mcp-session-id': id }).post('/mcp', ping)).status).toBe(404);
  });

  test('answer 401 to a revoked key in its session, and end its stream', async () => {
    verifies('mcp.unauthorized');
    const { apiKey } = await createWorkspace(deps);
    const id = await openSession(apiKey);
    const stream = await openEventStream(`${testRun().url}/mcp`, {
      ...bearer(apiKey),
      accept: 'text/event-stream',
      'mcp-session-id': id,
    });
    const sse = await fetch(`${testRun().url}/sse`, { headers: bearer(apiKey) });
    const ended = Promise.allSettled([stream.ended, sse.text()]);
    await deps.mongo.collections.api_keys.updateOne({ _id: sha256Hex(apiKey) }, { $set: { revoked_at: 1 } });
    expect((await rawMcp(apiKey, { 'mcp-session-id': id }).post('/mcp', ping)).status).toBe(401);
    await ended;
  });
});

describe('GET /sse', () => {
  test('names the address of messages as /messages?session=', async () => {
    verifies('mcp.sse');
    const { apiKey } = await createWorkspace(deps);
    const gone = new AbortController();
    const response = await fetch(`${testRun().url}/sse`, { headers: bearer(apiKey), signal: gone.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    const endpoint = /^event: endpoint\ndata: (\S+)\n\n/.exec(new TextDecoder().decode(value))?.[1] ?? '';
    expect(endpoint).toMatch(/^\/messages\?session=[0-9a-f-]{36}/);
    const session = new URL(endpoint, testRun().url).searchParams.get('session') ?? '';
    expect((await rawMcp(apiKey).post(`/messages?session=${session}`, ping)).status).toBe(202);
    for (const message of [{ id: 1 }, [ping]]) {
      const refused = await rawMcp(apiKey).post(`/messages?session=${session}`, message);
      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatchObject({ code: -32_600, message: 'the body must be one JSON-RPC 2.0 message' });
    }
    const stranger = (await createWorkspace(deps)).apiKey;
    expect((await rawMcp(stranger).post(`/messages?session=${session}`, ping)).status).toBe(404);
    gone.abort();
    await eventually(async () =>
      expect((await rawMcp(apiKey).post(`/messages?session=${session}`, ping)).status).toBe(404),
    );
  });
});

/** Sends a Host header that fetch does not allow. */
async function statusForHost(host: string, apiKey: string): Promise<number> {
  const { request } = await import('node:http');
  const { hostname, port } = new URL(testRun().url);
  const body = JSON.stringify(initialize());
  return new Promise((resolve, reject) => {
    const headers = {
      ...bearer(apiKey),
      ...accept,
      host,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request({ hostname, port, path: '/mcp', method: 'POST', headers }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    sent.on('error', reject).end(body);
  });
}
