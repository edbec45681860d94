import { describe, expect, test } from '@jest/globals';
import { createKey, createWorkspace, useDeps } from '../../support/fixture.js';
import { createGatewayWorkspace } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';
import { connect, connectModern, connectSse, textOf, useClients } from './clients.js';

const deps = useDeps();
useClients();

const uris = ['context://ontology', 'context://governance'];

describe('resources', () => {
  test('are listed and read through the pipeline, the same in every generation', async () => {
    verifies('mcp.resources');
    const workspace = await createGatewayWorkspace(deps);
    await workspace.gateway.post('/v1/ontology', {
      define: { entity_types: { Thing: { properties: {} } }, relationship_types: {} },
    });
    for (const client of [
      (await connect(workspace.apiKey)).client,
      await connectSse(workspace.apiKey),
      await connectModern(workspace.apiKey),
    ]) {
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(uris);
      expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
      const [ontology, governance] = await Promise.all(
        uris.map(async (uri) => (await client.readResource({ uri })).contents[0] as any),
      );
      expect(ontology).toMatchObject({ uri: uris[0], mimeType: 'application/json' });
      expect(JSON.parse(ontology.text)).toMatchObject({
        version: 0,
        draft: { entity_types: { Thing: expect.anything() } },
        lifecycle_id: expect.any(String),
      });
      expect(JSON.parse(governance.text)).toMatchObject({
        mode: 'simple',
        auth_kind: 'api_key',
        lifecycle_id: expect.any(String),
      });
    }
  });

  test('are hidden from and refused for a caller without the grant', async () => {
    const { apiKey } = await createWorkspace(deps, { grants: ['svc:query.read'] });
    const { client } = await connect(apiKey);
    expect((await client.listResources()).resources).toEqual([]);
    expect((await client.listPrompts()).prompts).toEqual([]);
    const refusal = { code: -32000, data: { error: 'S2:resolve-scope', lifecycle_id: expect.any(String) } };
    await expect(client.readResource({ uri: 'context://governance' })).rejects.toMatchObject(refusal);
    await expect((await connectModern(apiKey)).readResource({ uri: 'context://governance' })).rejects.toMatchObject(
      refusal,
    );
  });

  test('are reported as not found with the error of each protocol generation', async () => {
    verifies('mcp.resources.unknown');
    const { apiKey } = await createWorkspace(deps);
    await expect((await connect(apiKey)).client.readResource({ uri: 'context://secrets' })).rejects.toMatchObject({
      code: -32002,
    });
    await expect((await connectModern(apiKey)).readResource({ uri: 'context://secrets' })).rejects.toMatchObject({
      code: -32602,
    });
  });
});

describe('the prompt write_query', () => {
  test('contains the question, the rules and the ontology of the project', async () => {
    verifies('mcp.prompt');
    const workspace = await createGatewayWorkspace(deps);
    await workspace.gateway.post('/v1/ontology', {
      define: { entity_types: { Ship: { properties: { tonnage: { type: 'number' } } } }, relationship_types: {} },
    });
    expect(await workspace.gateway.post('/v1/ontology', { commit: true })).toMatchObject({ status: 200 });
    for (const client of [(await connect(workspace.apiKey)).client, await connectModern(workspace.apiKey)]) {
      expect((await client.listPrompts()).prompts).toMatchObject([
        { name: 'write_query', arguments: [{ name: 'question', required: true }] },
      ]);
      const { messages } = await client.getPrompt({
        name: 'write_query',
        arguments: { question: 'Which ships are heavy?' },
      });
      const text = (messages[0]?.content as { text: string }).text;
      for (const part of ['Which ships are heavy?', 'project_id = $project_id', 'Ship', 'tonnage'])
        expect(text).toContain(part);
      await expect(client.getPrompt({ name: 'write_query', arguments: {} })).rejects.toMatchObject({ code: -32602 });
      await expect(client.getPrompt({ name: 'other', arguments: {} })).rejects.toMatchObject({ code: -32602 });
    }
  });
});

describe('a refusal', () => {
  test('is a tool error with stage, description and the lifecycle id of its record', async () => {
    verifies('mcp.tools.refusal');
    const workspace = await createGatewayWorkspace(deps);
    const forbid = {
      policy_id: 'no-models',
      effect: 'forbid',
      tools: ['save-model'],
      description: 'models are frozen',
    };
    await workspace.gateway.put('/v1/policies', { policies: [{ policy_id: 'all', effect: 'permit' }, forbid] });
    const reader = await createKey(deps, workspace, { grants: ['svc:query.read'] });
    const refusals = [
      {
        key: workspace.apiKey,
        name: 'query_context',
        input: { query: 'CREATE (n) RETURN n' },
        error: 'S4:validate-input',
      },
      {
        key: workspace.apiKey,
        name: 'query_context',
        input: { query: 'MATCH (n) RETURN n' },
        error: 'S4:validate-input',
      },
      {
        key: workspace.apiKey,
        name: 'query_context',
        input: { query: 'x', project_id: 'other' },
        error: 'S4:validate-input',
      },
      { key: workspace.apiKey, name: 'query_context', input: { question: 'x' }, error: 'invalid_request' },
      { key: workspace.apiKey, name: 'query_context', input: { query: 'x', approval_id: 7 }, error: 'invalid_request' },
      { key: workspace.apiKey, name: 'save_model', input: { model: 'offline' }, error: 'S5:policy' },
      { key: reader, name: 'save_context', input: {}, error: 'S2:resolve-scope' },
    ];
    for (const { key, name, input, error } of refusals) {
      for (const client of [(await connect(key)).client, await connectModern(key)]) {
        const result = await client.callTool({ name, arguments: input });
        expect(result).toMatchObject({ isError: true });
        const body = textOf(result);
        expect(body).toMatchObject({ error, error_description: expect.any(String), lifecycle_id: expect.any(String) });
        const { body: lifecycle } = await workspace.gateway.get(`/v1/lifecycles/${body.lifecycle_id}`);
        expect(lifecycle).toMatchObject({ status: 'denied' });
      }
    }
  });
});
