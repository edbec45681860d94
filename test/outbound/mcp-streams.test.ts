import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { createHttpClient } from '../../src/outbound/http-client.js';
import { createMcpClient } from '../../src/outbound/mcp-client.js';
import type { McpTarget } from '../../src/outbound/mcp-transport.js';
import { sendJson } from '../support/fake-model.js';
import { startHttpSink, type HttpSink, type SinkRequest } from '../support/http-sink.js';
import { verifies } from '../support/verifies.js';

/** Servers whose answers do not arrive on the stream of their request. */
const http = createHttpClient({ allowPrivateTargets: true });
const client = createMcpClient(http, async () => undefined);
let sink: HttpSink;
beforeAll(async () => {
  sink = await startHttpSink();
});
afterAll(() => Promise.all([sink.close(), http.close()]));

const call = (target: McpTarget) =>
  client.use(
    target,
    { owner: 'organization', timeoutMs: 600_000, signal: new AbortController().signal, secrets: [] },
    async (session) => {
      await session.listTools();
      return session.callTool('echo', {}, { meta: {} });
    },
  );

const content = [{ type: 'text', text: 'done' }];
const results: Record<string, object> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content },
};
const answerTo = ({ id, method }: any) => {
  const result = results[method];
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) };
};
const event = (message: object, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${JSON.stringify(message)}\n\n`;
const stream = (res: ServerResponse) => res.writeHead(200, { 'content-type': 'text/event-stream' });

describe('a stream that the server ends before the answer', () => {
  interface Polling {
    /** What the POST of the call answers before it ends. */
    begin: (res: ServerResponse) => void;
    /** What each GET with `Last-Event-ID` answers, in order; the last one is repeated. */
    resumed: ((res: ServerResponse, answer: object) => void)[];
  }
  function polling({ begin, resumed }: Polling) {
    const path = `/${newId()}`;
    let answer: object = {};
    const asked: string[] = [];
    sink.answer(path, ({ method, body, headers }: SinkRequest, res) => {
      const lastId = headers['last-event-id'];
      if (method === 'GET' && typeof lastId === 'string') {
        asked.push(lastId);
        const respond = resumed.length > 1 ? resumed.shift() : resumed[0];
        return void respond?.(res, answer);
      }
      if (method !== 'POST') return void res.writeHead(405).end();
      const message = JSON.parse(body);
      if (message.id === undefined) return void res.writeHead(202).end();
      if (message.method !== 'tools/call') return sendJson(res, 200, answerTo(message));
      answer = answerTo(message);
      begin(res);
    });
    return { target: { url: `${sink.url}${path}`, headers: {} }, asked };
  }
  const primed = (res: ServerResponse) => void stream(res).end('id: first\nretry: 1\ndata: \n\n');
  const answered = (res: ServerResponse, answer: object) => void stream(res).end(event(answer, 'last'));

  test('is resumed after its last event until the answer arrives', async () => {
    verifies('mcp-client.resumed');
    const again = (res: ServerResponse) => void stream(res).end('id: second\ndata: \n\n');
    const { target, asked } = polling({ begin: primed, resumed: [again, again, answered] });
    expect(await call(target)).toEqual({ content });
    expect(asked).toEqual(['first', 'second', 'second']);
  });

  test('is resumed if the connection breaks', async () => {
    verifies('mcp-client.resumed');
    const broken = (res: ServerResponse) => {
      stream(res).write('id: first\nretry: 1\ndata: \n\n', () => setImmediate(() => res.destroy()));
    };
    const { target } = polling({ begin: broken, resumed: [answered] });
    expect(await call(target)).toEqual({ content });
  });

  test('is resumed after an answer that may pass', async () => {
    verifies('mcp-client.resumed');
    const busy = (res: ServerResponse) => void res.writeHead(503).end();
    const { target, asked } = polling({ begin: primed, resumed: [busy, answered] });
    expect(await call(target)).toEqual({ content });
    expect(asked).toEqual(['first', 'first']);
  });

  test.each([404, 405])('fails the call if the server answers %s to that', async (status) => {
    verifies('mcp-client.resumed');
    const gone = (res: ServerResponse) => void res.writeHead(status).end();
    const { target, asked } = polling({ begin: primed, resumed: [gone] });
    await expect(call(target)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('without an answer'),
    });
    expect(asked).toEqual(['first']);
  });

  test('fails the call if it cannot be resumed three times', async () => {
    verifies('mcp-client.resumed');
    const busy = (res: ServerResponse) => void res.writeHead(500).end();
    const { target, asked } = polling({ begin: primed, resumed: [busy] });
    await expect(call(target)).rejects.toMatchObject({ code: 'unreachable' });
    expect(asked.length).toBe(3);
  });
});

describe('a server with HTTP and SSE only', () => {
  interface SseServer {
    status?: number;
    endpoint?: (path: string) => string;
    /** What the stream sends for a call; the answer by default. */
    onCall?: (stream: ServerResponse, answer: object) => void;
  }
  function sse({ status = 405, endpoint = (path) => `${path}/messages`, onCall }: SseServer = {}) {
    const path = `/${newId()}`;
    let open: ServerResponse | undefined;
    const authorizations = new Set<string | undefined>();
    sink.answer(path, ({ method, path: at, body, headers }, res) => {
      authorizations.add(headers.authorization);
      if (method === 'GET') {
        open = stream(res);
        open.write(`event: endpoint\ndata: ${endpoint(path)}\n\n`);
      } else if (at === path) res.writeHead(status).end('Method Not Allowed');
      else {
        const message = JSON.parse(body);
        res.writeHead(202).end('Accepted');
        if (message.id === undefined || !open) return;
        const answer = answerTo(message);
        if (message.method === 'tools/call' && onCall) onCall(open, answer);
        else open.write(event(answer));
      }
    });
    return {
      target: { url: `${sink.url}${path}`, headers: { authorization: 'Bearer of-the-server' } },
      authorizations,
    };
  }

  test.each([400, 404, 405])(
    'that answers %s to a POST can be used, with the credentials of the connector',
    async (status) => {
      verifies('mcp-client.sse');
      const { target, authorizations } = sse({ status });
      expect(await call(target)).toEqual({ content });
      expect([...authorizations]).toEqual(['Bearer of-the-server']);
    },
  );

  test('fails the call at once when its stream ends', async () => {
    verifies('mcp-client.sse');
    const { target } = sse({ onCall: (open) => void open.end() });
    await expect(call(target)).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('cannot send the messages to another origin', async () => {
    verifies('mcp-client.sse');
    const stolen = await startHttpSink();
    const { target } = sse({ endpoint: () => `${stolen.url}/messages` });
    await expect(call(target)).rejects.toMatchObject({ code: 'action_refused' });
    expect(stolen.requests).toEqual([]);
    await stolen.close();
  });

  test('cannot send more than the largest answer', async () => {
    verifies('mcp-client.sse');
    const { target } = sse({ onCall: (open) => void open.write(`: ${'x'.repeat(5 * 1024 * 1024)}\n\n`) });
    await expect(call(target)).rejects.toMatchObject({ code: 'too_large' });
  });

  test('that is no MCP server is refused with its first answer', async () => {
    verifies('mcp-client.sse');
    const path = `/${newId()}`;
    sink.answer(path, (_request, res) => void res.writeHead(404, { 'content-type': 'text/plain' }).end('no such page'));
    await expect(call({ url: `${sink.url}${path}`, headers: {} })).rejects.toMatchObject({
      code: 'action_refused',
      message: 'the MCP server answered with status 404: no such page',
    });
  });
});

test('a server that fails at an unknown method is asked in the older way', async () => {
  verifies('mcp-client.connect');
  const path = `/${newId()}`;
  sink.answer(path, ({ method, body }, res) => {
    if (method !== 'POST') return void res.writeHead(405).end();
    const message = JSON.parse(body);
    if (message.id === undefined) return void res.writeHead(202).end();
    if (!results[message.method]) return void res.writeHead(500).end('KeyError');
    sendJson(res, 200, answerTo(message));
  });
  expect(await call({ url: `${sink.url}${path}`, headers: {} })).toEqual({ content });
});
