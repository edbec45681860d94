import { describe, expect, test } from '@jest/globals';
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createPerson, type Person } from '../../auth/auth-server.js';
import { eventually } from '../../support/eventually.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { bearerClient } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { newId } from '../../../src/base/ids.js';
import { bearer, connect, connectModern, connectSse, useClients } from './clients.js';
import { useOwnMcp, type OwnMcp } from './own-mcp.js';

const deps = useDeps();
useClients();
const serveMcp = useOwnMcp(deps);

const uris = ['context://ontology', 'context://governance'];

interface Heard {
  kinds: Set<string>;
  forget(): void;
}

type Connect = (mcp: OwnMcp, apiKey: string, headers?: Record<string, string>) => Promise<Heard>;

const legacyWith =
  (connectWith: typeof connectSse): Connect =>
  async (mcp, apiKey, headers = {}) => {
    const kinds = new Set<string>();
    const client = await connectWith(apiKey, { url: mcp.url, headers });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void kinds.add('tools'));
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => void kinds.add('prompts'));
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void kinds.add('resources'));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void kinds.add(params.uri));
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
    });
    for (const uri of uris) await client.subscribeResource({ uri });
    await expect(client.subscribeResource({ uri: 'context://secrets' })).rejects.toMatchObject({ code: -32002 });
    return { kinds, forget: () => kinds.clear() };
  };

const modern: Connect = async (mcp, apiKey, headers = {}) => {
  const kinds = new Set<string>();
  const client = await connectModern(apiKey, {
    url: mcp.url,
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } }),
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => void kinds.add('tools'));
  client.setNotificationHandler('notifications/prompts/list_changed', () => void kinds.add('prompts'));
  client.setNotificationHandler('notifications/resources/list_changed', () => void kinds.add('resources'));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void kinds.add(params.uri));
  await client.listen({
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: uris,
  });
  return { kinds, forget: () => kinds.clear() };
};

const connections: [string, Connect][] = [
  ['a session over Streamable HTTP', legacyWith(async (apiKey, options) => (await connect(apiKey, options)).client)],
  ['a session over SSE', legacyWith(connectSse)],
  ['a subscription of 2026-07-28', modern],
];

async function commitOntology(mcp: OwnMcp, apiKey: string): Promise<void> {
  const { client } = await connect(apiKey, { url: mcp.url });
  await client.callTool({
    name: 'ontology',
    arguments: {
      define: { entity_types: { [`Ship${newId().replaceAll('-', '')}`]: { properties: {} } }, relationship_types: {} },
    },
  });
  expect((await client.callTool({ name: 'ontology', arguments: { commit: true } })).isError).toBeFalsy();
}

async function putPolicies(deps_: typeof deps, workspace: Workspace): Promise<void> {
  const key = await createKey(deps_, { ...workspace, userId: newId() });
  expect(
    await bearerClient(key).put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }] }),
  ).toMatchObject({ status: 200 });
}

describe.each(connections)('%s', (_, connectTo) => {
  test('is notified of new ontologies and policies of its own project by other processes', async () => {
    verifies('mcp.list-changed');
    const [mcp, elsewhere] = await Promise.all([serveMcp({ sweepMs: 50 }), serveMcp({})]);
    const workspace = await createWorkspace(deps);
    const heard = await connectTo(mcp, workspace.apiKey);
    const stranger = await connectTo(mcp, (await createWorkspace(deps)).apiKey);
    await commitOntology(elsewhere, workspace.apiKey);
    await eventually(() => expect(heard.kinds).toEqual(new Set(['context://ontology'])));
    heard.forget();
    await putPolicies(deps, workspace);
    await eventually(() => expect(heard.kinds).toEqual(new Set(['tools', 'context://governance'])));
    expect(stranger.kinds.size).toBe(0);
  });
});

describe.each(connections)('%s', (_, connectTo) => {
  test('is notified when the grants of its caller change', async () => {
    verifies('mcp.list-changed');
    const mcp = await serveMcp({ sweepMs: 50 });
    const home = await createWorkspace(deps);
    const workspace = await createWorkspace(deps, { organizationId: home.organizationId });
    const person = await createPerson(deps, { role: 'PROJECT_ADMIN', workspace });
    const heard = await connectTo(mcp, await userTokenOf(person, home), {
      'x-service-workspace': `ws_${workspace.projectID}`,
    });
    await deps.mongo.collections.memberships.updateOne({ user_id: person.userId }, { $set: { role: 'VIEWER' } });
    await eventually(() => expect(heard.kinds).toEqual(new Set(['tools', 'context://governance'])));
  });
});

describe('a session over Streamable HTTP', () => {
  test('is notified on its newest stream, which takes over from an earlier one', async () => {
    verifies('mcp.list-changed', 'mcp.streamable-http.takeover');
    const mcp = await serveMcp({ sweepMs: 50 });
    const { apiKey } = await createWorkspace(deps);
    const streams: number[] = [];
    const { client, transport } = await connect(apiKey, {
      url: mcp.url,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (init?.method === 'GET') streams.push(response.status);
        return response;
      },
    });
    const updated: string[] = [];
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
    await client.subscribeResource({ uri: 'context://ontology' });
    await eventually(() => expect(streams).toEqual([200]));
    const session = { ...bearer(apiKey), accept: 'text/event-stream', 'mcp-session-id': transport.sessionId ?? '' };
    const get = async (headers: Record<string, string>) => {
      const { status, body } = await fetch(new URL('/mcp', mcp.url), { headers: { ...session, ...headers } });
      await body?.cancel();
      return status;
    };
    expect(await get({ 'last-event-id': 'unknown' })).toBe(400);
    expect(await get({})).toBe(200);
    await eventually(() => expect(streams.length).toBeGreaterThan(1));
    await commitOntology(mcp, apiKey);
    await eventually(() => expect(updated).toEqual(['context://ontology']));
  });
});

/** A user token of one project. With it, its person can use other projects with their current role there. */
async function userTokenOf({ userId }: Person, home: Workspace): Promise<string> {
  const session = await deps.auth.sessions.start({ kind: 'user', user_id: userId, project_id: home.projectID });
  const claims = {
    sub: userId,
    role: 'VIEWER',
    org_id: home.organizationId,
    dept_id: home.departmentId,
    project_id: home.projectID,
    token_use: 'user',
    sid: session._id,
  };
  return deps.auth.tokens.sign(claims, { expiresInSeconds: 900 });
}
