import { describe, expect, test } from '@jest/globals';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createPerson } from '../../auth/auth-server.js';
import { consentInBrowser, mcpProvider } from '../oauth/mcp-provider.js';
import { apiClient } from '../../support/client.js';
import { useDeps } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();
/** The public address of the product, for which metadata and tokens are valid. */
const baseUrl = testRun().url.replace('127.0.0.1', 'localhost');
const transports = {
  'Streamable HTTP': (authProvider: ReturnType<typeof mcpProvider>) =>
    new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { authProvider }),
  SSE: (authProvider: ReturnType<typeof mcpProvider>) =>
    new SSEClientTransport(new URL(`${baseUrl}/sse`), { authProvider }),
};
const query = { name: 'query_context', arguments: { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n' } };

describe.each(Object.entries(transports))('the SDK client over %s', (_name, transportWith) => {
  test('gets from the bare address to a governed query and a refresh, until its grant is revoked', async () => {
    verifies('mcp.sdk-client', 'auth.kind.oauth', 'pipeline.one-for-all-surfaces');
    const person = await createPerson(deps);
    const provider = mcpProvider();
    const newClient = () => new Client({ name: 'test', version: '1' });
    const first = transportWith(provider);
    await expect(newClient().connect(first)).rejects.toThrow(UnauthorizedError);
    const answer = await consentInBrowser(baseUrl, person, provider.opened ?? new URL('none:'));
    await first.finishAuth(answer.searchParams.get('code') ?? '');

    const client = newClient();
    await client.connect(transportWith(provider));
    const called = await client.callTool(query);
    expect(called).toMatchObject({ structuredContent: { lifecycle_id: expect.any(String), entities: [] } });
    const governance = await bearerClient(provider.saved?.access_token ?? '', baseUrl).post('/v1/docs', {
      topic: 'governance',
    });
    expect(governance).toMatchObject({
      status: 200,
      body: { auth_kind: 'user_jwt', client_id: provider.information?.client_id },
    });
    const { lifecycle_id } = called.structuredContent as { lifecycle_id: string };
    const lifecycle = await bearerClient(provider.saved?.access_token ?? '', baseUrl).get(
      `/v1/lifecycles/${lifecycle_id}`,
    );
    expect(lifecycle.body).toMatchObject({
      tool: 'query-context',
      status: 'completed',
      principal: { client_id: provider.information?.client_id },
    });
    expect(lifecycle.body.stages).toHaveLength(8);
    expect(await deps.mongo.collections.audit_entries.countDocuments({ lifecycle_id })).toBe(1);

    const before = provider.saved?.refresh_token;
    await provider.saveTokens({ ...(provider.saved ?? { token_type: 'Bearer' }), access_token: 'no-longer-good' });
    const refreshed = newClient();
    await refreshed.connect(transportWith(provider));
    expect(await refreshed.callTool(query)).toHaveProperty('structuredContent');
    expect(provider.saved?.refresh_token).not.toBe(before);

    const form = new URLSearchParams({
      token: provider.saved?.refresh_token ?? '',
      client_id: provider.information?.client_id ?? '',
    });
    const revoked = await apiClient(baseUrl).post('/oauth/revoke', form.toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(revoked.status).toBe(200);
    await expect(newClient().connect(transportWith(provider))).rejects.toThrow(UnauthorizedError);
    await Promise.all([client.close(), refreshed.close()]);
  });
});
