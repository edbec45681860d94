import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { createHttpClient } from '../../src/outbound/http-client.js';
import { createMcpClient } from '../../src/outbound/mcp-client.js';
import type { McpTarget } from '../../src/outbound/mcp-transport.js';
import { eventually } from '../support/eventually.js';
import { sendJson } from '../support/fake-model.js';
import { startHttpSink, type HttpSink } from '../support/http-sink.js';
import { verifies } from '../support/verifies.js';

const http = createHttpClient({ allowPrivateTargets: true });
const client = createMcpClient(http, async () => undefined);
let sink: HttpSink;
beforeAll(async () => {
  sink = await startHttpSink();
});
afterAll(() => Promise.all([sink.close(), http.close()]));

/** Lists the tools of the server and calls one. */
const call = (target: McpTarget, timeoutMs: number, by = client) =>
  by.use(
    target,
    { owner: 'organization', timeoutMs, signal: new AbortController().signal, secrets: [] },
    async (session) => {
      await session.listTools();
      return session.callTool('echo', {}, { meta: {} });
    },
  );

const content = [{ type: 'text', text: 'done' }];
const serverInfo = { name: 'odd', version: '1' };
const results: Record<string, object> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content },
};

type Respond = (res: ServerResponse, answer: { id: unknown }) => void;

/** The address of a server that answers these methods in its own way, or all if there are none. */
function server(methods: readonly string[], respond: Respond, own: Record<string, object> = {}): McpTarget {
  const name = newId();
  sink.answer(`/${name}`, ({ method, body }, res) => {
    if (method !== 'POST') return void res.writeHead(405).end();
    const asked = JSON.parse(body) as { id?: number; method: string };
    if (asked.id === undefined) return void res.writeHead(202).end();
    const result = own[asked.method] ?? results[asked.method];
    const answer = {
      jsonrpc: '2.0',
      id: asked.id,
      ...(result ? { result } : { error: { code: -32601, message: 'no' } }),
    };
    if (methods.length === 0 || methods.includes(asked.method)) respond(res, answer);
    else sendJson(res, 200, answer);
  });
  return { url: `${sink.url}/${name}`, headers: {} };
}

const stream =
  (text: (answer: { id: unknown }) => string): Respond =>
  (res, answer) =>
    void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(text(answer));
const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const otherId: Respond = (res, answer) => sendJson(res, 200, { ...answer, id: 4711 });
const otherIdInStream = stream((answer) => event({ ...answer, id: 4711 }));
const notAnAnswer = { code: 'action_refused', message: expect.stringContaining('not the answer to the request') };
const noAnswer = { code: 'unreachable', message: expect.stringContaining('without an answer') };
const longMs = 600_000;

test.each<[string, readonly string[], Respond, object]>([
  ['answers a call with another id', ['tools/call'], otherId, notAnAnswer],
  ['answers a call with another id in a stream', ['tools/call'], otherIdInStream, notAnAnswer],
  ['answers every request with the same id', [], otherId, notAnAnswer],
  ['answers every request with the same id in a stream', [], otherIdInStream, notAnAnswer],
  ['sends an event that is not JSON', ['tools/call'], stream(() => 'data: {half\n\n'), notAnAnswer],
  ['ends its stream without an answer', ['tools/call'], stream(() => ''), noAnswer],
])('a call fails at once when the server %s', async (_name, methods, respond, error) => {
  verifies('mcp-client.results');
  await expect(call(server(methods, respond), longMs)).rejects.toMatchObject(error);
});

test('a call reads the answer in a stream with other events, also if it is sent twice', async () => {
  verifies('mcp-client.results');
  const progress = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } };
  const twice = stream((answer) => event(progress) + event(answer) + event(answer));
  expect(await call(server(['tools/list', 'tools/call'], twice), longMs)).toMatchObject({ content });
});

test('a session ends when the server sends more requests than the client answers', async () => {
  verifies('mcp-client.results');
  const pings = Array.from({ length: 600 }, (_, id) => event({ jsonrpc: '2.0', id: `ping ${id}`, method: 'ping' }));
  const target = server(['tools/call'], (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write(pings.join(''));
  });
  await expect(call(target, longMs)).rejects.toMatchObject({
    code: 'action_refused',
    message: expect.stringContaining('more than 500 requests'),
  });
});

test('a list of tools is refused once all its pages together are too large', async () => {
  verifies('mcp-client.results');
  let pages = 0;
  const page = { tools: [{ name: 'echo', description: 'x'.repeat(300 * 1024), inputSchema: { type: 'object' } }] };
  const endless = server(['tools/list'], (res, answer) => {
    pages += 1;
    sendJson(res, 200, { ...answer, result: { ...page, nextCursor: String(pages) } });
  });
  await expect(call(endless, longMs)).rejects.toMatchObject({ code: 'too_large' });
  expect(pages).toBe(4);
});

/** A server as a process that answers only these methods, and writes the ids of its processes to a file. */
const processOf = (file: string, answered: object): McpTarget => ({
  folder: path.dirname(file),
  commandLine: [
    process.execPath,
    '-e',
    `const fs = require('node:fs'); fs.appendFileSync(${JSON.stringify(file)}, process.pid + ' ');
    const results = ${JSON.stringify(answered)};
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (results[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
    });
    // Keeps running although its input has ended.
    setInterval(() => undefined, 1000);`,
  ],
});

test('a process that ignores unknown requests can be called, and one that never answers is ended', async () => {
  verifies('mcp-client.results');
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-'));
  const [ids, silentIds] = [path.join(folder, 'ids'), path.join(folder, 'silent-ids')];
  const isRunning = (pid: string) => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  };
  const running = (file: string) => readFileSync(file, 'utf8').trim().split(' ').filter(isRunning);
  expect(await call(processOf(ids, results), longMs)).toMatchObject({ content });
  await expect(call(processOf(silentIds, {}), 3000)).rejects.toMatchObject({ code: 'timeout' });
  await eventually(() => expect([...running(ids), ...running(silentIds)]).toEqual([]));
  await rm(folder, { recursive: true });
});

test('the result of a call that runs as a task is checked against the output schema', async () => {
  verifies('mcp-client.results');
  const outputSchema = { type: 'object', properties: { word: { type: 'string' } } };
  const task = { taskId: 'one', status: 'working', ttl: 1000, createdAt: '', lastUpdatedAt: '' };
  const own: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
      serverInfo,
    },
    'tools/list': {
      tools: [{ name: 'echo', inputSchema: { type: 'object' }, outputSchema, execution: { taskSupport: 'required' } }],
    },
    'tools/call': { task },
    'tasks/result': { content, structuredContent: { word: 1 } },
  };
  const target = server([], (res, answer) => sendJson(res, 200, answer), own);
  const seen: object[] = [];
  const strict = createMcpClient(http, async (output) => {
    seen.push(output);
    return 'value' in output ? 'the structured content does not match' : undefined;
  });
  await expect(call(target, 10_000, strict)).rejects.toMatchObject({
    code: 'action_refused',
    message: expect.stringContaining('does not match'),
  });
  expect(seen).toEqual([{ schema: outputSchema }, { schema: outputSchema, value: { word: 1 } }]);
});

test.each(['JSON', 'a stream', 'the lines of a process'])(
  'keeps ids of 64 bits in structured results, in %s',
  async (how) => {
    verifies('json.exact-numbers');
    const outputSchema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
    const own = {
      'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' }, outputSchema }] },
      'tools/call': { content, structuredContent: { id: 'ID', list: ['ID', 5] } },
    };
    const exactly = (text: string) => text.replaceAll('"ID"', '1234567890123456789');
    const checked: unknown[] = [];
    const checking = createMcpClient(http, async ({ value }) => void checked.push(value));
    let target: McpTarget;
    if (how === 'the lines of a process') {
      const script = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      const result = ${JSON.stringify({ ...results, ...own })}[method];
      if (id === undefined) return;
      const answer = JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) });
      process.stdout.write(answer.replaceAll('"ID"', '1234567890123456789') + '\\n');
    });`;
      target = { commandLine: [process.execPath, '-e', script], folder: tmpdir() };
    } else if (how === 'JSON')
      target = server(
        [],
        (res, answer) =>
          void res.writeHead(200, { 'content-type': 'application/json' }).end(exactly(JSON.stringify(answer))),
        own,
      );
    else
      target = server(
        [],
        stream((answer) => exactly(event(answer))),
        own,
      );
    const { structuredContent } = await call(target, 60_000, checking);
    expect(structuredContent).toMatchObject({ id: '1234567890123456789', list: ['1234567890123456789', 5] });
    // The check sees numbers, as the schema says.
    expect(checked.at(-1)).toMatchObject({ id: 1234567890123456789 });
  },
);

describe('a result that links to resources', () => {
  const link = (name: string) => ({
    type: 'resource_link' as const,
    uri: `file:///${name}`,
    name,
    title: `The ${name}`,
  });
  const resource = { uri: 'file:///a', mimeType: 'text/plain', text: 'the text' };
  const initialize = { protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {} }, serverInfo };
  const read = { contents: [{ ...resource, _meta: null }] };
  const small = { 'tools/call': { content: [...content, link('a')] }, 'resources/read': read, initialize };
  const whole: Respond = (res, answer) => sendJson(res, 200, answer);
  const neither: Respond = (res) => void res.writeHead(500).end();

  test('contains what the server says about them, after each link', async () => {
    verifies('mcp-client.linked-resources');
    expect(await call(server([], whole, small), longMs)).toEqual({
      content: [...content, link('a'), { type: 'resource', resource }],
    });
  });

  test.each<[string, Respond, Record<string, object>]>([
    ['cannot be read', neither, {}],
    ['are answered in an unknown form', whole, { 'resources/read': { contents: [{ text: 7 }] } }],
    ['are too large', whole, { 'resources/read': { contents: [{ ...resource, text: 'x'.repeat(600_000) }] } }],
    ['the server does not offer', neither, { initialize: results.initialize ?? {} }],
  ])('keeps its links alone if they %s', async (_name, respond, own) => {
    verifies('mcp-client.linked-resources');
    expect(await call(server(['resources/read'], respond, { ...small, ...own }), longMs)).toEqual({
      content: [...content, link('a')],
    });
  });
});
