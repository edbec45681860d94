import { describe, expect, test } from '@jest/globals';
import { apiClient } from '../../support/client.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { modernRequest } from '../../support/mcp-tasks.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { bearer } from './clients.js';
import { governedWorkspace, onlyApproval } from './governed.js';

const deps = useDeps();

/** A session in which a task waits for an approval, so that the request of its result is not answered until then. */
async function sessionWithHeldTask() {
  const workspace = await governedWorkspace(deps);
  const accept = { accept: 'application/json, text/event-stream' };
  const opened = await apiClient(testRun().url, { ...bearer(workspace.apiKey), ...accept }).post('/mcp', {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const headers = { ...bearer(workspace.apiKey), ...accept, ...session };
  const raw = apiClient(testRun().url, headers);
  const send = (message: object, more = {}) => raw.post('/mcp', { jsonrpc: '2.0', ...message }, more);
  const held = await send({
    ...{ id: 2, method: 'tools/call' },
    params: { name: 'save_context', arguments: { entities: [{ type: 'Person', name: 'Ada' }] }, task: {} },
  });
  const { taskId } = messageIn(held.body).result.task;
  /** Resolves when the server has begun to stream, with a function that reads the message. */
  const begin = async (message: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const json = { 'content-type': 'application/json' };
    const answer = await fetch(`${testRun().url}/mcp`, { method: 'POST', headers: { ...headers, ...json }, body });
    expect(answer.status).toBe(200);
    return async () => messageIn(await answer.text());
  };
  const beginResult = (id: number) => begin({ id, method: 'tasks/result', params: { taskId } });
  return { workspace, send, beginResult };
}

function messageIn(body: string): any {
  return JSON.parse(/^data: (\{.*)$/m.exec(body)?.[1] ?? '{}');
}

describe('a request of a session', () => {
  test('is refused while another request with its id is unanswered, and the other one is answered', async () => {
    verifies('mcp.requests.ids');
    const { workspace, send, beginResult } = await sessionWithHeldTask();
    const result = await beginResult(7);
    for (const method of ['ping', 'tools/list'])
      expect(await send({ id: 7, method })).toMatchObject({
        status: 400,
        body: { error: { code: -32600, message: expect.stringContaining('has not been answered') } },
      });
    expect(messageIn((await send({ id: '7', method: 'ping' })).body)).toMatchObject({ id: '7', result: {} });
    await workspace.decide(await onlyApproval(workspace), 'approve');
    expect(await result()).toMatchObject({
      id: 7,
      result: { structuredContent: { lifecycle_id: expect.any(String) } },
    });
    expect(messageIn((await send({ id: 7, method: 'ping' })).body)).toMatchObject({ id: 7, result: {} });
  });

  test('ends when it is cancelled, whatever its method', async () => {
    verifies('mcp.requests.cancelled');
    const { send, beginResult } = await sessionWithHeldTask();
    const result = await beginResult(8);
    expect(await send({ method: 'notifications/cancelled', params: { requestId: 8 } })).toMatchObject({ status: 202 });
    expect(await result()).toMatchObject({ id: 8, error: { message: 'Request cancelled' } });
    expect(messageIn((await send({ id: 8, method: 'ping' })).body)).toMatchObject({ id: 8, result: {} });
  });

  test('can be sent again after the transport refused it', async () => {
    verifies('mcp.requests.ids');
    const { send } = await sessionWithHeldTask();
    const unknown = { 'mcp-protocol-version': '1999-01-01' };
    expect((await send({ id: 9, method: 'ping' }, unknown)).status).toBe(400);
    expect(messageIn((await send({ id: 9, method: 'ping' })).body)).toMatchObject({ id: 9, result: {} });
  });
});

describe('members that are null', () => {
  const accept = { accept: 'application/json, text/event-stream' };
  const begin = async (params: object) => {
    const { apiKey } = await governedWorkspace(deps);
    const headers = { ...bearer(apiKey), ...accept };
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const opened = await apiClient(testRun().url, headers).post('/mcp', message);
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    return { opened, raw: apiClient(testRun().url, { ...headers, ...session }) };
  };

  test('count as absent, also in the first request', async () => {
    verifies('mcp.null-members');
    const { opened, raw } = await begin({
      ...{ protocolVersion: '2025-06-18', _meta: null, clientInfo: { name: 'raw', title: null } },
      capabilities: { roots: null, sampling: null, experimental: null },
    });
    expect(opened.status).toBe(200);
    const requests: [string, object | null][] = [
      ['ping', null],
      ['tools/list', { cursor: null, _meta: null }],
      ['prompts/list', null],
      ['tools/call', { name: 'docs', arguments: null, _meta: { progressToken: null } }],
    ];
    for (const [at, [method, params]] of requests.entries()) {
      const answer = await raw.post('/mcp', { jsonrpc: '2.0', id: at + 2, method, params });
      expect([method, messageIn(answer.body).error]).toEqual([method, undefined]);
    }
  });

  test('do not hide that a first request is invalid', async () => {
    verifies('mcp.null-members');
    const { opened } = await begin({
      protocolVersion: null,
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    });
    expect(opened).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('params must have protocolVersion') } },
    });
  });
});

test.each(['resources/subscribe', 'resources/unsubscribe', 'tasks/result', 'initialize', 'tools/none'])(
  'a request of 2026-07-28 for %s, which that revision does not have, is refused as unknown, whatever its parameters',
  async (method) => {
    verifies('mcp.stateless-revision');
    const { apiKey } = await createWorkspace(deps);
    for (const params of [{}, { uri: 'context://x' }, { taskId: 7 }])
      await expect(modernRequest(apiKey, method, params)).rejects.toMatchObject({ code: -32601 });
  },
);
