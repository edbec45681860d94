import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { flowThatCalls } from '../../../support/flows.js';
import { connectServer, toolsPath } from '../../../support/mcp-agents.js';
import { startMcpServer, type McpServer } from '../../../support/mcp-server.js';
import { authorizePath } from '../../../support/oauth-mcp.js';
import { ownProduct } from '../../../support/own-product.js';
import { useHttpSink } from '../../../support/use-http-sink.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();
const server = await useHttpSink();

const stepOf = async ({ api }: Workspace, id: string) =>
  (await api.get(`/execute_flow/${id}/monitoring`)).body.steps[0];
const closed = ownProduct({ ALLOW_PRIVATE_TARGETS: 'false' });
const keys = { SECRETS_KEY: 'the first key of at least 32 characters' };
const sealed = ownProduct(keys);

describe('unless ALLOW_PRIVATE_TARGETS allows them, private addresses are refused', () => {
  let mcp: McpServer;
  let through: (workspace: Workspace) => Workspace;
  beforeAll(async () => {
    const [api] = await Promise.all([closed.api(), closed.worker()]);
    through = (workspace) => closed.through(api, workspace);
    mcp = await startMcpServer();
  });
  afterAll(() => mcp.close());

  test('to an action', async () => {
    verifies('env.allow-private-targets');
    const direct = await createWorkspace(deps);
    const workspace = through(direct);
    for (const url of [
      `${server.url}/private`,
      server.url.replace('127.0.0.1', 'localhost'),
      'http://10.0.0.1/',
      'http://192.168.1.1/',
      'http://169.254.169.254/latest/meta-data/',
    ]) {
      const id = await startExecution(workspace, flowThatCalls([url]));
      expect(await untilExecution(workspace, id, 'failed')).toMatchObject({ status: 'failed' });
      expect([url, await stepOf(workspace, id)]).toMatchObject([
        url,
        { attempts: 1, error: expect.stringContaining('public') },
      ]);
    }
    expect(server.requests).toHaveLength(0);
    const id = await startExecution(direct, flowThatCalls([`${server.url}/private`]));
    await untilExecution(direct, id, 'completed');
    expect(server.requests.map(({ path }) => path)).toEqual(['/private']);
  });

  test('to an MCP connector, and so are configurations that name both an address and a command or neither', async () => {
    verifies('mcp-client.private-addresses');
    const member = through(await createWorkspace(deps));
    for (const url of [mcp.url, mcp.url.replace('127.0.0.1', 'localhost'), 'http://169.254.169.254/mcp']) {
      const id = await connectServer(member, { url });
      const answer = await member.api.get(toolsPath(member, id));
      expect([url, answer]).toMatchObject([
        url,
        { status: 422, body: { error_description: expect.stringContaining('public') } },
      ]);
    }
    const stdio = await connectServer(member, { command: 'memory' });
    expect(await member.api.get(toolsPath(member, stdio))).toMatchObject({ status: 503 });
    const header = { type: 'header', name: 'x-key', value: 'y' };
    for (const [given, problem] of [
      [{}, 'url: give either url or command'],
      [{ url: mcp.url, command: 'memory' }, 'url: give either url or command'],
      [{ command: 'memory', auth: header }, 'auth: must be none for a command'],
      [{ url: 'http://a:b@c/mcp' }, 'url: must not contain credentials'],
    ] as const) {
      const answer = await member.api.post(`/connectors/${member.projectID}/mcp`, { name: 'x', ...given });
      expect(answer).toMatchObject({ status: 400, body: { error_description: problem } });
    }
  });

  test('to the authorization of an MCP server', async () => {
    verifies('mcp-oauth.private-addresses');
    const member = through(await createWorkspace(deps));
    const id = await connectServer(member, { url: mcp.url, auth: { type: 'oauth' } });
    expect(await member.api.post(authorizePath(member, id))).toMatchObject({
      status: 422,
      body: { error_description: expect.stringContaining('public') },
    });
  });
});

test('a process with another SECRETS_KEY cannot open the secrets of a connector', async () => {
  verifies('env.secrets-key');
  const workspace = sealed.through(await sealed.api(), await createWorkspace(deps));
  const connector = await workspace.api.post('/actions/restful/config', {
    name: 'Sealed',
    config: { base_url: `${server.url}/sealed`, auth: { type: 'bearer', token: 'sealed-s3cret' } },
  });
  expect(connector.status).toBe(200);
  const flow = flowThatCalls(['/x']) as any;
  flow.agents[0].skills[0].connector_id = connector.body._id;
  keys.SECRETS_KEY = 'another key of at least 32 characters too';
  const stranger = await sealed.worker();
  // The process cannot read the run's history either, so the run waits for a worker that has the key.
  const waiting = await startExecution(workspace, flow);
  await stranger.end();
  expect(server.seen('/sealed')).toHaveLength(0);
  keys.SECRETS_KEY = 'the first key of at least 32 characters';
  await sealed.worker();
  await untilExecution(workspace, waiting, 'completed');
  expect(server.requests.at(-1)).toMatchObject({
    path: '/sealed/x',
    headers: { authorization: 'Bearer sealed-s3cret' },
  });
});
