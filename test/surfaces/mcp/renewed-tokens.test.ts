import { describe, expect, test } from '@jest/globals';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../../support/eventually.js';
import { moveExecution, prepareExecution } from '../../support/executions.js';
import { createWorkspace, useDeps } from '../../support/fixture.js';
import { flowThatCalls } from '../../support/flows.js';
import { createGatewayWorkspace } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { connect, connectModern, connectSse, textOf, useClients } from './clients.js';
import { governedWorkspace, onlyApproval } from './governed.js';
import { openGrant, publicUrl, type TestGrant } from './oauth-grant.js';
import { useOwnMcp } from './own-mcp.js';

const deps = useDeps();
const tight = useDeps({ QUOTA_PROJECT_MAX: '1' });
useClients();
const serveMcp = useOwnMcp(deps);
const serveTightMcp = useOwnMcp(tight);

const save = { name: 'save_context', arguments: { entities: [{ id: 'one', type: 'Thing', name: 'one' }] } };
const forms = { capabilities: { elicitation: { form: {} } } };
/** Long enough to begin a call with on a busy machine. */
const shortSeconds = 5;

async function clientsOf(grant: TestGrant) {
  const options = { url: publicUrl, fetch: grant.fetch };
  return {
    legacy: (await connect('', options)).client,
    sse: await connectSse('', options),
    modern: await connectModern('', options),
  };
}

describe('an approval that is given after the access token of the call has expired', () => {
  test('is used with the renewed token of the session', async () => {
    verifies('mcp.approval.renewed-token');
    const workspace = await governedWorkspace(deps);
    const grant = await openGrant(deps, workspace, ['svc:ontology.write']);
    for (const connectWith of [
      async () => (await connect('', { url: publicUrl, fetch: grant.fetch, client: forms })).client,
      () => connectSse('', { url: publicUrl, fetch: grant.fetch, client: forms }),
    ]) {
      await grant.renew();
      const client = await connectWith();
      client.setRequestHandler(ElicitRequestSchema, async () => {
        await grant.expired(grant.current);
        await grant.renew();
        await workspace.decide(await onlyApproval(workspace), 'approve');
        return { action: 'accept', content: {} };
      });
      await grant.renew(shortSeconds);
      expect((await client.callTool(save, undefined, { timeout: 120_000 })).structuredContent).toMatchObject({
        saved: { entities: 1 },
        lifecycle_id: expect.any(String),
      });
    }
  });

  test('is named in the answer if the call fails for another reason', async () => {
    verifies('mcp.approval.renewed-token');
    const mcp = await serveTightMcp({});
    const workspace = await governedWorkspace(deps);
    const { client } = await connect(workspace.apiKey, { url: mcp.url, client: forms });
    let approval_id = '';
    client.setRequestHandler(ElicitRequestSchema, async () => {
      approval_id = await onlyApproval(workspace);
      await workspace.decide(approval_id, 'approve');
      return { action: 'accept', content: {} };
    });
    const refused = await client.callTool(save);
    expect(textOf(refused)).toMatchObject({
      error: 'S3:rate-quota',
      approval_id,
      how_to_finish: expect.stringContaining(approval_id),
    });
    const { client: other } = await connect(workspace.apiKey);
    expect(
      (await other.callTool({ ...save, arguments: { ...save.arguments, approval_id } })).structuredContent,
    ).toMatchObject({ saved: { entities: 1 } });
  });
});

describe('wait_for_execution', () => {
  test('outlives the access token that it started with, in every generation', async () => {
    verifies('mcp.wait.renewed-token');
    const workspace = await createGatewayWorkspace(deps);
    const grant = await openGrant(deps, workspace, ['svc:orchestrate.read']);
    const clients = await clientsOf(grant);
    const { execution_id } = await prepareExecution(workspace, flowThatCalls([]));
    const wait = { name: 'wait_for_execution', arguments: { execution_id, timeout_seconds: 200 } };
    const options = { timeout: 250_000 };
    await grant.renew(shortSeconds);
    const short = grant.current;
    const waiting = [
      clients.legacy.callTool(wait, undefined, options),
      clients.sse.callTool(wait, undefined, options),
      clients.modern.callTool(wait, options),
    ];
    await grant.expired(short);
    expect(await moveExecution(workspace, execution_id, 'execute')).toMatchObject({ status: 200 });
    for (const answer of await Promise.all(waiting))
      expect(answer.structuredContent).toMatchObject({ ended: true, execution: { execution_id, status: 'completed' } });
  });

  test('ends with a clear error when its grant is revoked', async () => {
    verifies('mcp.wait.renewed-token');
    const workspace = await createGatewayWorkspace(deps);
    const grant = await openGrant(deps, workspace, ['svc:orchestrate.read']);
    const { legacy, modern } = await clientsOf(grant);
    const { execution_id } = await prepareExecution(workspace, flowThatCalls([]));
    const wait = { name: 'wait_for_execution', arguments: { execution_id, timeout_seconds: 200 } };
    const seen = new Set<number>();
    const options = (at: number) => ({ timeout: 250_000, onprogress: () => void seen.add(at) });
    await grant.renew(shortSeconds);
    const waiting = [legacy.callTool(wait, undefined, options(0)), modern.callTool(wait, options(1))];
    await eventually(() => expect(seen.size).toBe(2));
    await grant.expired(grant.current);
    await grant.revoke();
    for (const answer of await Promise.all(waiting)) {
      expect(answer).toMatchObject({ isError: true });
      expect(textOf(answer)).toMatchObject({
        error: 'invalid_token',
        error_description: expect.stringContaining('revoked'),
        lifecycle_id: expect.any(String),
      });
    }
  });
});

describe('an idle stream', () => {
  test('outlives the access token and ends with the grant', async () => {
    verifies('mcp.streams.renewed-token');
    const mcp = await serveMcp({ sweepMs: 50 });
    const workspace = await createWorkspace(deps);
    const grant = await openGrant(deps, workspace, ['svc:docs.read', 'svc:ontology.write'], mcp.url);
    const sse = await connectSse('', { url: mcp.url, fetch: grant.fetch });
    const modern = await connectModern('', { url: mcp.url, fetch: grant.fetch });
    await grant.renew(shortSeconds);
    const idle = await connectSse('', { url: mcp.url, fetch: grant.fetch });
    let closed = false;
    idle.onclose = () => (closed = true);
    idle.onerror = () => (closed = true);
    const updated: string[] = [];
    modern.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri));
    const subscription = await modern.listen({ resourceSubscriptions: ['context://ontology'] });
    await grant.expired(grant.current);
    await grant.renew();
    await sse.callTool({
      name: 'ontology',
      arguments: { define: { entity_types: { Ship: { properties: {} } }, relationship_types: {} } },
    });
    await sse.callTool({ name: 'ontology', arguments: { commit: true } });
    // The stream of the expired token was checked since then and stayed open.
    await eventually(() => expect(updated).toEqual(['context://ontology']));
    expect(closed).toBe(false);
    expect(await idle.ping()).toEqual({});
    await grant.revoke();
    expect(await subscription.closed).toBe('remote');
    await eventually(() => expect(mcp.usage().sessions).toBe(0));
  });
});
