import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newId } from '../../../../src/base/ids.js';
import { outputsOf } from '../../../support/connectors.js';
import { eventually } from '../../../support/eventually.js';
import { moveExecution, startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, type FakeModel } from '../../../support/fake-model.js';
import { createKey, createWorkspace, personOf, useDeps, type Workspace } from '../../../support/fixture.js';
import {
  acceptTools as accept,
  agentThatCalls as agentFor,
  answersTo as answersOf,
  connectServer as connect,
  toolsOf,
  toolsPath,
} from '../../../support/mcp-agents.js';
import { npmServer, startEverything, startMcpServer, toolNamed, type McpServer } from '../../../support/mcp-server.js';
import { ownProduct } from '../../../support/own-product.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const files = mkdtempSync(path.join(tmpdir(), 'mcp-files-'));
writeFileSync(path.join(files, 'note.txt'), 'a note in a file');
const overrides: Record<string, string> = {
  STEP_PATIENCE: '25',
  MCP_STDIO_COMMANDS: JSON.stringify({
    everything: { command: npmServer('everything', 'stdio'), projects: '*' },
    filesystem: { command: npmServer('filesystem', files), projects: '*' },
    memory: { command: npmServer('memory'), projects: '*' },
    missing: { command: ['/no/such/command'], projects: '*' },
  }),
};
const product = ownProduct(overrides);
let model: FakeModel;
let everything: { url: string; close(): void };
let changing: McpServer;
let through: (workspace: Workspace) => Workspace;

beforeAll(async () => {
  [model, everything, changing] = await Promise.all([startFakeModel(), startEverything(), startMcpServer()]);
  overrides.LLM_BASE_URL = model.url;
  const [api] = await Promise.all([product.api(), product.worker()]);
  through = (workspace) => product.through(api, workspace);
});
afterAll(async () => {
  everything.close();
  await Promise.all([model.close(), changing.close()]);
});

const workspace = async () => through(await createWorkspace(deps));

const statesOf = ({ tools }: any) => Object.fromEntries(tools.map(({ name, state }: any) => [name, state]));

const agentThatCalls = (name: string, connector: string, tools: string[], calls: [string, object][]) =>
  agentFor(model, name, connector, tools, calls);
const answersTo = (name: string): any[] => answersOf(model, name) ?? [];

const everyCall: [string, object][] = [
  ['echo', { message: 'hello' }],
  ['get-annotated-message', { messageType: 'success', includeImage: true }],
  ['get-env', {}],
  ['get-resource-links', { count: 2 }],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
  ['get-structured-content', { location: 'New York' }],
  ['get-sum', { a: 2, b: 3 }],
  ['get-tiny-image', {}],
  ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' }],
  ['simulate-research-query', { topic: 'tides' }],
  ['toggle-simulated-logging', {}],
  ['toggle-subscriber-updates', {}],
  ['trigger-long-running-operation', { duration: 1, steps: 2 }],
];

describe.each([
  ['Streamable HTTP', () => ({ url: everything.url })],
  ['stdio', () => ({ command: 'everything' })],
])('server-everything over %s', (kind, given) => {
  test('lets an agent call every tool', async () => {
    verifies('mcp-client.every-tool');
    const member = await workspace();
    const id = await connect(member, given());
    const { tools } = await toolsOf(member, id);
    const names = everyCall.map(([name]) => name);
    // This tool asks a person, and has its own tests.
    const asking = 'trigger-elicitation-request';
    expect(tools.map(({ name }: any) => name)).toEqual([...names, asking].sort());
    expect(new Set(tools.map(({ state, problems }: any) => `${state} ${problems}`))).toEqual(new Set(['new ']));
    await accept(member, id, names);
    const flow = agentThatCalls(`every ${kind}`, id, names, everyCall);
    const execution = await startExecution(member, flow);
    await untilExecution(member, execution, 'completed');
    const [asked] = model.asked(`every ${kind}`);
    const live = tools.find(({ name }: any) => name === 'get-sum').live;
    expect(asked?.body.tools.find((each: any) => each.function.name === 'get-sum').function).toMatchObject({
      description: `${live.description} (Skill)`,
      parameters: live.inputSchema,
    });
    const answers = answersTo(`every ${kind}`);
    const byName = Object.fromEntries(names.map((name, at) => [name, answers[at]]));
    expect(answers.filter(({ error }) => error)).toEqual([]);
    expect(byName).toMatchObject({
      echo: { text: 'Echo: hello' },
      'get-sum': { text: expect.stringContaining('5') },
      'simulate-research-query': { text: expect.stringContaining('Research Report: tides') },
      'get-structured-content': { structured: { temperature: expect.any(Number) } },
      'get-tiny-image': { content: [{ type: 'image', mime_type: 'image/png', size_bytes: expect.any(Number) }] },
      'get-resource-reference': { content: [{ type: 'resource', text: expect.any(String) }] },
      'get-resource-links': {
        content: ['resource_link', 'resource', 'resource_link', 'resource'].map((type) => ({ type })),
      },
      'gzip-file-as-resource': { content: [{ type: 'resource', size_bytes: expect.any(Number) }] },
    });
    // The process of a command must not get the secrets of the worker.
    if (kind === 'stdio') expect(JSON.stringify(byName['get-env'])).not.toContain('MONGODB_URI');
  });
});

test('server-filesystem and server-memory work over stdio', async () => {
  verifies('mcp-client.stdio');
  const member = await workspace();
  const [disk, memory] = [
    await connect(member, { command: 'filesystem' }),
    await connect(member, { command: 'memory' }),
  ];
  await accept(member, disk, ['read_text_file']);
  await accept(member, memory, ['read_graph']);
  const flow = agentThatCalls('disk', disk, ['read_text_file'], [['read_text_file', { path: `${files}/note.txt` }]]);
  await untilExecution(member, await startExecution(member, flow), 'completed');
  expect(JSON.stringify(answersTo('disk'))).toContain('a note in a file');
  const graph = agentThatCalls('memory', memory, ['read_graph'], [['read_graph', {}]]);
  await untilExecution(member, await startExecution(member, graph), 'completed');
  expect(answersTo('memory')).toMatchObject([{ structured: { entities: expect.any(Array) } }]);
});

test('a server of the 2026-07-28 revision is listed with its header, which no answer shows', async () => {
  verifies('mcp-client.connect');
  const member = await workspace();
  const value = `Bearer ${await createKey(deps, member)}`;
  const id = await connect(member, {
    url: `${member.api.url}/mcp`,
    auth: { type: 'header', name: 'Authorization', value },
  });
  const { tools } = await toolsOf(member, id);
  expect(tools.map(({ name }: any) => name)).toContain('query_context');
  const shown = await member.api.get(`/connectors/${member.projectID}/${id}`);
  expect(shown.body.config).toMatchObject({ auth: { type: 'header', value: '[stored]' } });
  expect(JSON.stringify(shown.body)).not.toContain(value);
});

test('100 changed definitions suspend 100 tools, until a person accepts them again', async () => {
  verifies('mcp-client.suspended');
  const member = await workspace();
  const id = await connect(member, { url: changing.url });
  const names = Array.from({ length: 100 }, (_, at) => `tool_${at}`);
  changing.tools = names.map((name) => toolNamed(name));
  expect(statesOf(await accept(member, id))).toEqual(Object.fromEntries(names.map((name) => [name, 'accepted'])));
  const flow = agentThatCalls(
    'changed',
    id,
    ['tool_0', 'tool_3'],
    [
      ['tool_0', { word: 'a' }],
      ['tool_3', {}],
    ],
  );
  const execution = await prepare(member, flow);
  changing.calls = [];
  const changes = [
    { description: 'Does more' },
    { title: 'New' },
    { annotations: { readOnlyHint: true } },
    { inputSchema: { type: 'object' } },
  ];
  changing.tools = names.map((name, at) => toolNamed(name, changes[at % changes.length]));
  await moveExecution(member, execution, 'execute');
  await untilExecution(member, execution, 'completed');
  expect(answersTo('changed')).toMatchObject([
    { error: { code: 'tool_suspended', message: expect.stringContaining('accept its tools again') } },
    { error: { code: 'tool_suspended' } },
  ]);
  expect(changing.calls).toEqual([]);
  // The first call detected all changes. A return to the old definitions has no effect.
  changing.tools = names.map((name) => toolNamed(name));
  const back = await toolsOf(member, id);
  expect(new Set(Object.values(statesOf(back)))).toEqual(new Set(['suspended']));
  changing.tools = names.map((name) => toolNamed(name, { description: 'Does it better' }));
  const changed = await toolsOf(member, id);
  expect(changed.tools[0].difference).toEqual([{ path: 'description', pinned: 'Does tool_0', live: 'Does it better' }]);
  await accept(member, id, ['tool_0']);
  expect(statesOf(await toolsOf(member, id))).toMatchObject({ tool_0: 'accepted', tool_3: 'suspended' });
  const again = agentThatCalls('again', id, ['tool_0'], [['tool_0', { word: 'b' }]]);
  await untilExecution(member, await startExecution(member, again), 'completed');
  expect(changing.calls).toEqual([{ name: 'tool_0', arguments: { word: 'b' } }]);
});

async function prepare(member: Workspace, flow: object): Promise<string> {
  const { api, projectID } = member;
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, flow);
  const created = await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: body._id, goal: 'x' });
  expect(created).toMatchObject({ status: 201 });
  return created.body.execution_id;
}

test('what changed after it was read is not accepted, and a removed tool is suspended', async () => {
  verifies('mcp-client.accept');
  const member = await workspace();
  const id = await connect(member, { url: changing.url });
  changing.tools = [toolNamed('kept'), toolNamed('removed')];
  const { hash } = await accept(member, id);
  changing.tools = [toolNamed('kept')];
  const answer = await member.api.post(`${toolsPath(member, id)}/accept`, { tools: 'all', hash });
  expect(answer).toMatchObject({ status: 409, body: { error: 'conflict' } });
  expect(statesOf(await toolsOf(member, id))).toEqual({ kept: 'accepted', removed: 'suspended' });
  expect(statesOf(await accept(member, id))).toEqual({ kept: 'accepted' });
});

test.each([
  ['a hidden tag', [toolNamed('t', { description: 'Plain\u{E0041}' })], 'U+E0041'],
  ['a zero-width space', [toolNamed('t', { description: 'a\u200Bb' })], 'U+200B'],
  ['a bidirectional override', [toolNamed('t', { title: 'a\u202Eb' })], 'U+202E'],
  [
    'hidden text in the schema',
    [toolNamed('t', { inputSchema: { type: 'object', properties: { 'a\u2063': {} } } })],
    'U+2063',
  ],
  ['a hidden character in the name', [toolNamed('t\u200D')], 'the name must consist of'],
  ['an over-long description', [toolNamed('t', { description: 'x'.repeat(4097) })], 'at most 4096'],
  ['the same name twice', [toolNamed('t'), toolNamed('t', { description: 'other' })], 'collides'],
  ['names that models confuse', [toolNamed('Send.mail'), toolNamed('send_mail')], 'collides'],
  ['a name that models see like another', [toolNamed('_search'), toolNamed('search')], 'collides'],
  ['a name that is cut like another', [toolNamed(`${'t'.repeat(64)}1`), toolNamed(`${'t'.repeat(64)}2`)], 'collides'],
])('a tool with %s is shown with its problem, and not accepted', async (_what, tools, problem) => {
  verifies('mcp-client.refused');
  const member = await workspace();
  const id = await connect(member, { url: changing.url });
  changing.tools = [...tools, toolNamed('harmless', { description: 'Warns ⚠\uFE0F plainly' })];
  const { hash, tools: shown } = await toolsOf(member, id);
  expect(shown.find(({ name }: any) => name !== 'harmless').problems.join()).toContain(problem);
  expect(shown.find(({ name }: any) => name === 'harmless').problems).toEqual([]);
  const names = tools.map(({ name }) => name);
  const answer = await member.api.post(`${toolsPath(member, id)}/accept`, { tools: names, hash });
  expect(answer).toMatchObject({ status: 422, body: { error: 'validation_failed' } });
  expect(answer.body.error_description).toContain(problem);
  // All that can be accepted are, and the others are still listed.
  const states = statesOf(await accept(member, id));
  expect(states.harmless).toBe('accepted');
  for (const name of names) expect(states[name]).toBe('new');
});

test('too many tools, too large a list, and a server that does not speak MCP are refused', async () => {
  verifies('mcp-client.refused');
  const member = await workspace();
  const id = await connect(member, { url: changing.url });
  const refusalOf = async (connector: string) => {
    const { status, body } = await member.api.get(toolsPath(member, connector));
    return [status, body.error_description];
  };
  changing.tools = Array.from({ length: 257 }, (_, at) => toolNamed(`t${at}`));
  expect(await refusalOf(id)).toEqual([422, expect.stringContaining('at most 256')]);
  changing.tools = [toolNamed('t', { description: 'x'.repeat(2 * 1024 * 1024) })];
  expect(await refusalOf(id)).toEqual([422, expect.stringContaining('larger than 1048576 bytes')]);
  const none = await connect(member, { url: `${model.url}/none` });
  expect(await refusalOf(none)).toEqual([422, expect.any(String)]);
  const missing = await connect(member, { command: 'missing' });
  expect(await refusalOf(missing)).toEqual([422, expect.stringContaining('command')]);
  const unknown = await connect(member, { command: 'sh' });
  expect(await refusalOf(unknown)).toEqual([503, expect.stringContaining('MCP_STDIO_COMMANDS')]);
});

test('results that are too large or errors, and calls that are lost or cancelled', async () => {
  verifies('mcp-client.results');
  const member = await workspace();
  const id = await connect(member, {
    url: changing.url,
    auth: { type: 'header', name: 'Authorization', value: 'Bearer tool-s3cret' },
  });
  changing.tools = ['large', 'deep', 'nested', 'error', 'refused', 'leak', 'held'].map((name) => toolNamed(name));
  await accept(member, id);
  changing.calls = [];
  const text = (value: string, isError = false) => ({ content: [{ type: 'text', text: value }], isError });
  let deep: object = {};
  for (let level = 0; level < 4000; level += 1) deep = { a: deep };
  let aborted = false;
  changing.result = async (name, signal) => {
    if (name === 'large') return text('x'.repeat(1024 * 1024));
    if (name === 'deep') return { content: [], structuredContent: deep };
    if (name === 'nested') return { ...text('['.repeat(5000) + ']'.repeat(5000)), structuredContent: { a: 1 } };
    if (name === 'error') return text('no such ticket', true);
    if (name === 'leak') return text('the token is tool-s3cret');
    if (name === 'refused') throw new Error(`${'x'.repeat(350)} tool-s3cret is not valid`);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted = true;
        resolve(text('late'));
      });
    });
  };
  const names = ['large', 'deep', 'nested', 'error', 'refused', 'leak'];
  const calls = names.map((name): [string, object] => [name, {}]);
  const flow = agentThatCalls('results', id, names, calls);
  await untilExecution(member, await startExecution(member, flow), 'completed');
  expect(answersTo('results')).toMatchObject([
    { error: { code: 'too_large' } },
    { error: { code: 'validation_failed', message: expect.stringContaining('nested deeper') } },
    { text: expect.stringContaining('[[['), structured: { a: 1 } },
    { error: { code: 'action_refused', message: expect.stringContaining('no such ticket') } },
    { error: { code: 'action_refused', message: expect.stringMatching(/x \[secret/) } },
    { text: 'the token is [secret]' },
  ]);
  expect(changing.calls.map(({ name }) => name)).toEqual(names);
  const held = await startExecution(member, agentThatCalls('held', id, ['held'], [['held', {}]]));
  await eventually(() => expect(changing.calls.map(({ name }) => name)).toContain('held'));
  await moveExecution(member, held, 'cancel');
  await untilExecution(member, held, 'failed');
  await eventually(() => expect(aborted).toBe(true));
});

test('an answer of a process that is too large is not asked for again', async () => {
  verifies('mcp-client.results', 'mcp-client.stdio');
  const member = await workspace();
  const id = await connect(member, { command: 'filesystem' });
  const file = path.join(files, 'large.txt');
  writeFileSync(file, 'x'.repeat(5 * 1024 * 1024));
  await accept(member, id, ['read_text_file']);
  const flow = agentThatCalls('too large', id, ['read_text_file'], [['read_text_file', { path: file }]]);
  await untilExecution(member, await startExecution(member, flow), 'completed');
  expect(answersTo('too large')).toMatchObject([
    { error: { code: 'too_large', message: expect.stringContaining('4194304 bytes') } },
  ]);
});

test('a call whose answer is lost is not repeated unless the tool is read-only', async () => {
  verifies('mcp-client.outcome-unknown');
  const member = await workspace();
  const server = await startMcpServer();
  const id = await connect(member, { url: server.url });
  server.tools = [toolNamed('write'), toolNamed('read', { annotations: { readOnlyHint: true } })];
  await accept(member, id);
  const lost = new Set<string>();
  server.result = async (name) => {
    if (lost.has(name)) return { content: [{ type: 'text', text: 'again' }] };
    lost.add(name);
    server.dropConnections();
    return new Promise(() => undefined);
  };
  const flow = agentThatCalls(
    'unknown',
    id,
    ['write', 'read'],
    [
      ['write', {}],
      ['read', {}],
    ],
  );
  await untilExecution(member, await startExecution(member, flow), 'completed');
  expect(answersTo('unknown')).toMatchObject([{ error: { code: 'outcome_unknown' } }, { text: 'again' }]);
  expect(server.calls.map(({ name }) => name)).toEqual(['write', 'read', 'read']);
  await server.close();
});

test('a call that the server was too busy to handle is repeated, also if the tool is not read-only', async () => {
  verifies('mcp-client.outcome-unknown');
  const member = await workspace();
  const server = await startMcpServer();
  const id = await connect(member, { url: server.url });
  server.tools = [toolNamed('write'), toolNamed('other')];
  await accept(member, id);
  server.refusals = [429, 503];
  server.result = async (name) => {
    server.refusals = [500];
    return { content: [{ type: 'text', text: `${name} did it` }] };
  };
  const calls = ['write', 'other'].map((name): [string, object] => [name, {}]);
  await untilExecution(
    member,
    await startExecution(member, agentThatCalls('busy', id, ['write', 'other'], calls)),
    'completed',
  );
  // With 500, the server may have acted.
  expect(answersTo('busy')).toMatchObject([{ text: 'write did it' }, { error: { code: 'outcome_unknown' } }]);
  expect(server.calls.map(({ name }) => name)).toEqual(['write']);
  await server.close();
});

test('rules forbid and hold calls by the annotations that a person accepted', async () => {
  verifies('act.mcp');
  const member = await workspace();
  const approver = await personOf(deps, member, { userId: newId(), role: 'ORG_ADMIN', url: member.api.url });
  const policies = [
    { policy_id: 'permit', effect: 'permit' },
    { policy_id: 'no-wipe', effect: 'forbid', tools: ['act.mcp'], when: 'context.input.destructive' },
    { policy_id: 'ask', effect: 'require_approval', tools: ['act.mcp'], when: '!context.input.read_only' },
  ];
  expect(await approver.put('/v1/policies', { policies })).toMatchObject({ status: 200 });
  const server = await startMcpServer();
  const id = await connect(member, { url: server.url });
  server.tools = [
    toolNamed('look', { annotations: { readOnlyHint: true } }),
    toolNamed('wipe'),
    toolNamed('note', { annotations: { destructiveHint: false } }),
  ];
  server.result = async (name) => ({ content: [{ type: 'text', text: name }] });
  await accept(member, id);
  const names = ['look', 'wipe', 'note'];
  const flow = agentThatCalls(
    'ruled',
    id,
    names,
    names.map((name) => [name, {}]),
  );
  const execution = await startExecution(member, flow);
  const { execution_context } = await untilExecution(member, execution, {
    execution_context: { waiting_for: { kind: 'approval' } },
  });
  expect(server.calls.map(({ name }) => name)).toEqual(['look']);
  const { approval_id } = execution_context.waiting_for;
  expect(await approver.get(`/v1/approvals/${approval_id}`)).toMatchObject({
    body: { tool: 'act.mcp', payload: { input: { call: { server: server.url, tool: 'note', arguments: {} } } } },
  });
  expect(await approver.post(`/v1/approvals/${approval_id}/approve`, {})).toMatchObject({ status: 200 });
  await untilExecution(member, execution, 'completed');
  expect(answersTo('ruled')).toMatchObject([{ text: 'look' }, { error: { code: 'policy_denied' } }, { text: 'note' }]);
  expect(server.calls.map(({ name }) => name)).toEqual(['look', 'note']);
  await server.close();
});

test('a skill and a run need accepted tools; a prescribed action takes its input from the run', async () => {
  verifies('mcp-client.allow-list');
  const member = await workspace();
  const { api, projectID } = member;
  const id = await connect(member, { url: changing.url });
  changing.tools = [toolNamed('chosen'), toolNamed('other')];
  changing.result = async (name) => ({ content: [{ type: 'text', text: name }] });
  await accept(member, id, ['chosen']);
  const skill = (tool: string, connector_id: string | null = id) =>
    api.post(`/skill?projectID=${projectID}`, {
      name: 'S',
      connector_id,
      actions: [{ name: 'A', category: 'mcp', endpoint: tool }],
    });
  expect(await skill('chosen')).toMatchObject({ status: 201 });
  expect(await skill('other')).toMatchObject({ status: 422, body: { error: 'validation_failed' } });
  expect(await skill('chosen', null)).toMatchObject({ status: 422 });
  const elsewhere = await workspace();
  expect(await elsewhere.api.get(toolsPath(elsewhere, id))).toMatchObject({ status: 404 });
  const flow = agentThatCalls('prescribed', id, ['chosen'], []) as any;
  flow.agents[0].skills[0].initial_action_id = 'chosen';
  flow.agents[0].llm = { model: 'plain' };
  changing.calls = [];
  const execution = await untilExecution(
    member,
    await startExecution(member, flow, { input_variables: { word: 'given' } }),
    'completed',
  );
  expect(outputsOf(execution)).toEqual([{ text: 'chosen' }]);
  expect(changing.calls).toEqual([{ name: 'chosen', arguments: { word: 'given' } }]);
  flow.agents[0].skills[0].actions[0].endpoint = 'other';
  const { body } = await api.post(`/agentflow?projectID=${projectID}`, flow);
  const refused = await api.post(`/execute_flow?projectID=${projectID}`, { agentflow_id: body._id, goal: 'x' });
  expect(refused).toMatchObject({ status: 422, body: { error: 'validation_failed' } });
});
