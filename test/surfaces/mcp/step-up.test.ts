import { describe, expect, test } from '@jest/globals';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createPerson } from '../../auth/auth-server.js';
import { allScopes } from '../oauth/flow.js';
import { consentInBrowser, mcpProvider } from '../oauth/mcp-provider.js';
import { apiClient } from '../../support/client.js';
import { useDeps } from '../../support/fixture.js';
import { createGatewayWorkspace } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { bearer, connectModern, connectSse, useClients } from './clients.js';
import { openGrant, publicUrl } from './oauth-grant.js';

const deps = useDeps();
useClients();

const accept = { accept: 'application/json, text/event-stream' };
const save = { name: 'save_context', arguments: { entities: [{ id: 'one', type: 'Thing', name: 'one' }] } };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe('the first challenge', () => {
  test.each(['/mcp', '/sse'])('of %s links to the metadata of that resource, and names all scopes', async (path) => {
    verifies('mcp.unauthorized.resource', 'mcp.step-up', 'mcp.scopes-in-reach');
    const { status, headers } = await apiClient(publicUrl).get(path);
    const [, metadata = '', scope] =
      /^Bearer resource_metadata="([^"]+)", scope="([^"]+)"$/.exec(headers.get('www-authenticate') ?? '') ?? [];
    expect([status, scope]).toEqual([401, allScopes]);
    expect((await apiClient('').get(metadata)).body).toMatchObject({ resource: publicUrl + path });
    const bad = await apiClient(publicUrl, bearer('svc_sk_nothing')).get(path);
    expect(bad.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${metadata}", scope="${scope}"`,
    );
  });

  test('of a REST route follows the specification', async () => {
    const { headers } = await apiClient(publicUrl).post('/v1/docs', {});
    expect(headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${publicUrl}/.well-known/oauth-protected-resource"`,
    );
  });
});

describe('a call without its scope', () => {
  test('is answered 403 insufficient_scope with the current and required scopes, and is recorded', async () => {
    verifies('mcp.step-up');
    const workspace = await createGatewayWorkspace(deps);
    const grant = await openGrant(deps, workspace, ['svc:query.read', 'svc:docs.read']);
    const raw = apiClient(publicUrl, { ...bearer(grant.current), ...accept });
    const session = { 'mcp-session-id': (await raw.post('/mcp', initialize)).headers.get('mcp-session-id') ?? '' };
    const challenge = (scope: string, path = '/mcp') =>
      `Bearer error="insufficient_scope", scope="svc:query.read svc:docs.read ${scope}", resource_metadata="${publicUrl}/.well-known/oauth-protected-resource${path}", error_description="this call needs the scope ${scope}"`;
    const refused = [
      { params: save, scope: 'svc:ontology.write' },
      { params: { name: 'wait_for_execution', arguments: { execution_id: 'x' } }, scope: 'svc:orchestrate.read' },
      {
        params: { name: 'orchestrate', arguments: { operation: 'cancel', execution_id: 'x' } },
        scope: 'svc:orchestrate.write',
      },
    ];
    for (const { params, scope } of refused) {
      const answer = await raw.post('/mcp', { jsonrpc: '2.0', id: 2, method: 'tools/call', params }, session);
      expect(answer).toMatchObject({
        status: 403,
        body: {
          error: 'S2:resolve-scope',
          error_description: `this call needs the grant ${scope}`,
          lifecycle_id: expect.any(String),
        },
      });
      expect(answer.headers.get('www-authenticate')).toBe(challenge(scope));
      const { body } = await workspace.gateway.get(`/v1/lifecycles/${answer.body.lifecycle_id}`);
      expect(body).toMatchObject({ status: 'denied' });
    }
    await expect((await connectModern('', { url: publicUrl, fetch: grant.fetch })).callTool(save)).rejects.toThrow(
      'Insufficient scope: required "svc:query.read svc:docs.read svc:ontology.write"',
    );
    await expect((await connectSse('', { url: publicUrl, fetch: grant.fetch })).callTool(save)).rejects.toThrow('403');
  });

  test('that no scope covers is a tool error', async () => {
    verifies('mcp.step-up');
    const workspace = await createGatewayWorkspace(deps);
    const grant = await openGrant(deps, workspace, ['svc:docs.read']);
    const modern = await connectModern('', { url: publicUrl, fetch: grant.fetch });
    expect(await modern.callTool({ name: 'save_model', arguments: { model: 'offline' } })).toMatchObject({
      isError: true,
    });
  });
});

describe('the SDK’s client', () => {
  async function usage() {
    const person = await createPerson(deps);
    const provider = mcpProvider();
    const transport = () => new StreamableHTTPClientTransport(new URL(`${publicUrl}/mcp`), { authProvider: provider });
    const consent = async (at: StreamableHTTPClientTransport, scopes?: string[]) => {
      const answer = await consentInBrowser(publicUrl, person, provider.opened ?? new URL('none:'), scopes);
      await at.finishAuth(answer.searchParams.get('code') ?? '');
    };
    const first = transport();
    await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
    return { provider, transport, consent, first, asked: () => provider.opened?.searchParams.get('scope') };
  }

  test('requests all scopes, and can use what the person allows', async () => {
    verifies('mcp.scopes-in-reach', 'mcp.unauthorized.resource');
    const { transport, consent, first, asked } = await usage();
    expect(asked()).toBe(allScopes);
    await consent(first);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport());
    expect((await client.callTool(save)).structuredContent).toMatchObject({ saved: { entities: 1 } });
    await client.close();
  });

  test('sees what its person can still allow, and asks for it when it calls', async () => {
    verifies('mcp.step-up', 'mcp.scopes-in-reach');
    const { provider, transport, consent, first, asked } = await usage();
    await consent(first, ['svc:query.read', 'svc:docs.read']);
    // With a refresh token, this client would first refresh, which adds no scope, and stop.
    delete provider.saved?.refresh_token;
    const client = new Client({ name: 'test', version: '1' });
    const second = transport();
    await client.connect(second);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['query_context', 'save_context', 'run_agent']),
    );
    await expect(client.callTool(save)).rejects.toThrow(UnauthorizedError);
    expect(asked()).toBe('svc:query.read svc:docs.read svc:ontology.write');
    await consent(second);
    const more = new Client({ name: 'test', version: '1' });
    await more.connect(transport());
    expect((await more.callTool(save)).structuredContent).toMatchObject({ saved: { entities: 1 } });
    await Promise.all([client.close(), more.close()]);
  });

  test('neither sees nor is asked for what the role of its person cannot give', async () => {
    verifies('mcp.scopes-in-reach');
    const workspace = await createGatewayWorkspace(deps);
    const grant = await openGrant(deps, workspace, ['svc:query.read'], publicUrl, 'VIEWER');
    const modern = await connectModern('', { url: publicUrl, fetch: grant.fetch });
    const { tools } = await modern.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('save_context');
    expect(await modern.callTool(save)).toMatchObject({ isError: true });
  });
});
