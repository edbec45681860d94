import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { startFakeModel, type FakeModel } from '../../../support/fake-model.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { createLoopMeter } from '../../../support/loop-meter.js';
import { acceptTools, agentThatCalls, answersTo, connectServer } from '../../../support/mcp-agents.js';
import { startMcpServer, toolNamed, type McpServer } from '../../../support/mcp-server.js';
import { ownProduct } from '../../../support/own-product.js';
import type { Api } from '../../../support/processes.js';
import { verifies } from '../../../support/verifies.js';

/** MCP servers that try to block the worker for everybody. */
const deps = useDeps();
const overrides: Record<string, string> = {};
const product = ownProduct(overrides);
let api: Api;
const probe = createLoopMeter(() => api).environment;
let model: FakeModel;
let server: McpServer;
let workspace: () => Promise<Workspace>;

beforeAll(async () => {
  [model, server] = await Promise.all([startFakeModel(), startMcpServer()]);
  overrides.LLM_BASE_URL = model.url;
  api = await product.api();
  Object.assign(overrides, probe);
  await product.worker();
  workspace = async () => product.through(api, await createWorkspace(deps));
});
afterAll(() => Promise.all([model.close(), server.close()]));

/** The longest turn of the worker's event loop, in milliseconds. */
const longestBlock = () =>
  Math.max(
    0,
    ...readFileSync(probe.LOOP_PROBE_FILE ?? '', 'utf8')
      .split('\n')
      .map(Number),
  );

const word = (schema: object) => ({ type: 'object', properties: { word: { type: 'string', ...schema } } });

test('an output schema whose check never ends does not delay the worker', async () => {
  verifies('mcp-client.results');
  const member = await workspace();
  const id = await connectServer(member, { url: server.url });
  server.tools = [
    toolNamed('fitting', { outputSchema: word({ pattern: '^b+$' }) }),
    toolNamed('other', { outputSchema: word({ pattern: '^a+$' }) }),
    toolNamed('slow', { outputSchema: word({ pattern: '^(b+)+$' }) }),
    toolNamed('broken', { outputSchema: word({ pattern: '(' }) }),
  ];
  const names = ['fitting', 'other', 'slow'];
  const { tools } = await acceptTools(member, id);
  expect(tools.find(({ name }: any) => name === 'broken')).toMatchObject({
    state: 'new',
    problems: [expect.stringContaining('outputSchema: is not a valid JSON Schema')],
  });
  server.calls = [];
  server.result = async (name) => ({
    content: [],
    structuredContent: { word: name === 'slow' ? `${'b'.repeat(32)}!` : 'b' },
  });
  const calls = names.map((name): [string, object] => [name, {}]);
  await untilExecution(
    member,
    await startExecution(member, agentThatCalls(model, 'hostile', id, names, calls)),
    'completed',
  );
  expect(answersTo(model, 'hostile')).toMatchObject([
    { structured: { word: 'b' } },
    { error: { code: 'action_refused', message: expect.stringContaining('does not match') } },
    { error: { code: 'action_refused', message: expect.stringContaining('could not be checked') } },
  ]);
  expect(server.calls.map(({ name }) => name)).toEqual(['fitting', 'other', 'slow']);
  expect(longestBlock()).toBeLessThan(2000);
});
