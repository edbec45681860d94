import { describe, expect, test } from '@jest/globals';
import { createKey, createWorkspace, useDeps } from '../../support/fixture.js';
import { apiClient } from '../../support/client.js';
import { eventually } from '../../support/eventually.js';
import { prepareExecution } from '../../support/executions.js';
import { flowThatCalls } from '../../support/flows.js';
import { openEventStream } from '../../support/event-stream.js';
import { verifies } from '../../support/verifies.js';
import { bearer, connect, connectModern, connectSse, useClients } from './clients.js';
import { useOwnMcp, type OwnMcp } from './own-mcp.js';
import { sizeOf } from '../../requirements/full-forms.js';

const deps = useDeps({ QUOTA_PROJECT_MAX: '0', QUOTA_ORG_MAX: '0' });
useClients();
const serveMcp = useOwnMcp(deps);

const accept = { accept: 'application/json, text/event-stream' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };

async function openSession({ url }: OwnMcp, apiKey: string) {
  const raw = apiClient(url, { ...bearer(apiKey), ...accept });
  const { status, headers } = await raw.post('/mcp', initialize);
  const id = headers.get('mcp-session-id') ?? '';
  return { status, id, raw: apiClient(url, { ...bearer(apiKey), ...accept, 'mcp-session-id': id }) };
}

describe('sessions', () => {
  test('leave nothing behind when they are deleted, abandoned or lose their client', async () => {
    verifies('mcp.sessions.idle');
    const count = sizeOf('MCP_SESSIONS');
    const mcp = await serveMcp({ idleMs: 6000, sweepMs: 50, sessionsPerCaller: 10_000, resumableMs: 1000 });
    const { apiKey } = await createWorkspace(deps);
    const call = {
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'docs', arguments: { topic: 'errors' } },
    };
    let done = 0;
    const worker = async () => {
      while (done++ < count) {
        const at = done;
        const { raw, id, status } = await openSession(mcp, apiKey);
        expect(status).toBe(200);
        if (at % 5 === 0) expect((await raw.post('/mcp', call)).status).toBe(200);
        if (at % 3 === 0) expect((await raw.delete('/mcp')).status).toBe(200);
        if (at % 7 === 0)
          (
            await openEventStream(`${mcp.url}/mcp`, {
              ...bearer(apiKey),
              accept: 'text/event-stream',
              'mcp-session-id': id,
            })
          ).leave();
        if (at % 11 === 0)
          (
            await fetch(`${mcp.url}/sse`, { headers: bearer(apiKey), signal: AbortSignal.timeout(50) }).catch(
              () => undefined,
            )
          )?.body
            ?.cancel()
            .catch(() => undefined);
        if (at % 1000 === 0) {
          globalThis.gc?.();
          console.log(
            `${at} sessions: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB resident, ${Math.round(process.memoryUsage().heapUsed / 2 ** 20)} MiB heap, ${mcp.usage().sessions} open`,
          );
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    await eventually(() => expect(mcp.usage()).toEqual({ sessions: 0, events: 0 }));
  }, 600_000);

  test('end when they are idle, and not while a stream is open', async () => {
    verifies('mcp.sessions.idle');
    const mcp = await serveMcp({ idleMs: 6000, sweepMs: 50 });
    const { apiKey } = await createWorkspace(deps);
    const watched = await openSession(mcp, apiKey);
    const stream = await openEventStream(`${mcp.url}/mcp`, {
      ...bearer(apiKey),
      accept: 'text/event-stream',
      'mcp-session-id': watched.id,
    });
    expect(stream.status).toBe(200);
    const idle = await openSession(mcp, apiKey);
    await eventually(() => expect(mcp.usage().sessions).toBe(1));
    expect((await idle.raw.post('/mcp', ping)).status).toBe(404);
    expect((await watched.raw.post('/mcp', ping)).status).toBe(200);
    stream.leave();
    await eventually(() => expect(mcp.usage().sessions).toBe(0));
  });

  test('are limited: the least recently used session of a caller is closed, but not one in use', async () => {
    const mcp = await serveMcp({ sessionsPerCaller: 2, sessions: 3, sweepMs: 50 });
    const workspace = await createWorkspace(deps);
    const first = await openSession(mcp, workspace.apiKey);
    const second = await openSession(mcp, workspace.apiKey);
    await first.raw.post('/mcp', ping);
    const third = await openSession(mcp, workspace.apiKey);
    expect((await second.raw.post('/mcp', ping)).status).toBe(404);
    expect((await first.raw.post('/mcp', ping)).status).toBe(200);
    const streams = await Promise.all(
      [first, third].map(({ id }) =>
        openEventStream(`${mcp.url}/mcp`, {
          ...bearer(workspace.apiKey),
          accept: 'text/event-stream',
          'mcp-session-id': id,
        }),
      ),
    );
    expect((await openSession(mcp, workspace.apiKey)).status).toBe(429);
    const other = await createKey(deps, workspace);
    expect((await openSession(mcp, other)).status).toBe(200);
    expect((await openSession(mcp, other)).status).toBe(503);
    for (const stream of streams) stream.leave();
  });

  test('of one organization leave capacity for others, whichever keys they use', async () => {
    verifies('mcp.sessions.per-organization');
    const mcp = await serveMcp({ sessionsPerOrganization: 2 });
    const workspace = await createWorkspace(deps);
    for (const key of [workspace.apiKey, await createKey(deps, workspace)])
      expect((await openSession(mcp, key)).status).toBe(200);
    const above = await apiClient(mcp.url, { ...bearer(await createKey(deps, workspace)), ...accept }).post(
      '/mcp',
      initialize,
    );
    expect(above).toMatchObject({
      status: 429,
      body: { error: { message: expect.stringContaining('one organization can have at most 2 MCP sessions') } },
    });
    expect((await openSession(mcp, (await createWorkspace(deps)).apiKey)).status).toBe(200);
  });

  test('are not opened by a refused initialize', async () => {
    const mcp = await serveMcp({});
    const { apiKey } = await createWorkspace(deps);
    const { status } = await apiClient(mcp.url, bearer(apiKey)).post('/mcp', initialize, { accept: 'text/html' });
    expect(status).toBe(406);
    expect(mcp.usage()).toEqual({ sessions: 0, events: 0 });
  });
});

describe('in production', () => {
  test('serves only pages of the public address', async () => {
    verifies('mcp.rebinding');
    const mcp = await serveMcp({}, 'production');
    const { apiKey } = await createWorkspace(deps);
    const from = async (origin: string) =>
      (await apiClient(mcp.url, { ...bearer(apiKey), ...accept, origin }).post('/mcp', initialize)).status;
    expect(await from('http://localhost:6274')).toBe(403);
    expect(await from('https://mcp.example')).toBe(403);
    expect(await from(mcp.url)).toBe(200);
  });
});

describe('a process that stops', () => {
  test('answers the calls in progress, ends its streams and sessions, and accepts no more', async () => {
    const mcp = await serveMcp({});
    const workspace = await createWorkspace(deps);
    const { apiKey } = workspace;
    const { execution_id } = await prepareExecution(workspace, flowThatCalls([]));
    const wait = { name: 'wait_for_execution', arguments: { execution_id, timeout_seconds: 60 } };
    const seen = new Set<number>();
    const { client } = await connect(apiKey, { url: mcp.url });
    const waiting = [
      client.callTool(wait, undefined, { onprogress: () => void seen.add(1) }),
      (await connectSse(apiKey, { url: mcp.url })).callTool(wait, undefined, { onprogress: () => void seen.add(2) }),
      (await connectModern(apiKey, { url: mcp.url })).callTool(wait, { onprogress: () => void seen.add(3) }),
    ];
    const { id } = await openSession(mcp, apiKey);
    const stream = await openEventStream(`${mcp.url}/mcp`, {
      ...bearer(apiKey),
      accept: 'text/event-stream',
      'mcp-session-id': id,
    });
    await eventually(() => expect(seen.size).toBe(3));
    mcp.stopping.abort();
    expect((await openSession(mcp, apiKey)).status).toBe(503);
    for (const answer of waiting)
      expect((await answer).structuredContent).toMatchObject({ ended: false, execution: { status: 'ready' } });
    await stream.ended;
    expect(mcp.usage().sessions).toBe(0);
  });
});
