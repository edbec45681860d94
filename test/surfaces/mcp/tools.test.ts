import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Grant } from '../../../src/auth/grants.js';
import { createKey, createWorkspace, useDeps } from '../../support/fixture.js';
import { apiClient } from '../../support/client.js';
import { testRun } from '../../support/run.js';
import { newId } from '../../../src/base/ids.js';
import { verifies } from '../../support/verifies.js';
import { bearer, connect, connectModern, connectSse, textOf, useClients } from './clients.js';

const deps = useDeps();
useClients();

const readerTools = ['docs', 'memory', 'ontology', 'query_context'];

describe('tools/list', () => {
  test('shows every tool with schemas and hints, identical over every transport', async () => {
    verifies('mcp.tools.list', 'mcp.sse', 'mcp.stateless-revision');
    const { apiKey } = await createWorkspace(deps, { grants: Grant.options });
    const { client } = await connect(apiKey);
    const { tools } = await client.listTools();
    const { tools: overSse } = await (await connectSse(apiKey)).listTools();
    const { tools: modern } = await (await connectModern(apiKey)).listTools();
    expect(overSse).toEqual(tools);
    // Tasks are an extension in 2026-07-28 and not a property of a tool.
    expect(tools.every(({ execution }) => execution?.taskSupport === 'optional')).toBe(true);
    expect(modern).toEqual(tools.map(({ execution: _, ...tool }) => tool));
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'bind_repository',
      'catalog_ingest',
      'docs',
      'get_project_mode',
      'inbox',
      'memory',
      'ontology',
      'orchestrate',
      'project_mode',
      'query_context',
      'remember',
      'run_agent',
      'save_context',
      'save_model',
      'save_skill',
      'undo_merge',
      'wait_for_execution',
    ]);
    for (const tool of tools) {
      const ajv = new Ajv2020({ strict: false, formats: { uri: true, 'date-time': true } });
      for (const schema of [tool.inputSchema, tool.outputSchema ?? {}]) {
        expect(ajv.validateSchema(schema)).toBe(true);
        expect(typeof ajv.compile(schema)).toBe('function');
      }
      expect(tool).toMatchObject({ title: expect.any(String), description: expect.any(String) });
      expect(tool.inputSchema.properties).toMatchObject({
        dry_run: { type: 'boolean' },
        approval_id: { type: 'string' },
      });
      expect(tool.inputSchema.properties).not.toHaveProperty('projectId');
      expect(tool.annotations).toMatchObject({
        openWorldHint: false,
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
      });
    }
    expect(tools.find(({ name }) => name === 'query_context')?.annotations).toMatchObject({
      readOnlyHint: true,
      destructiveHint: false,
    });
    expect(tools.find(({ name }) => name === 'orchestrate')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    });
  });

  test('shows only tools that the caller can use in some variant', async () => {
    verifies('mcp.tools.list');
    const workspace = await createWorkspace(deps, { role: 'VIEWER' });
    const names = async (key: string) =>
      (await (await connect(key)).client.listTools()).tools.map(({ name }) => name).sort();
    expect(await names(workspace.apiKey)).toEqual(readerTools);
    const mover = await createKey(deps, workspace, { role: 'VIEWER', grants: ['svc:orchestrate.write'] });
    expect(await names(mover)).toEqual(['inbox', 'orchestrate']);
    const definer = await createKey(deps, workspace, { role: 'VIEWER', grants: ['svc:ontology.write'] });
    expect(await names(definer)).toEqual([
      'catalog_ingest',
      'memory',
      'ontology',
      'remember',
      'save_context',
      'undo_merge',
    ]);
  });
});

describe('what tools/list costs a client', () => {
  test('has a limit, and can be cached for some minutes', async () => {
    verifies('mcp.tools.list.cost');
    const { apiKey } = await createWorkspace(deps, { grants: Grant.options });
    const list = (await (await connectModern(apiKey)).listTools()) as any;
    expect(list).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' });
    expect(JSON.stringify(list.tools).length).toBeLessThan(60_000);
  });
});

describe('an output schema', () => {
  /** Like client generators: a type has the properties of the root, and unnamed ones are dropped. */
  const asTyped = (schema: any, value: any) =>
    Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(schema.properties, name)));

  test('names at its root every property of an answer, a pending approval and a dry run', async () => {
    verifies('mcp.tools.output-schema');
    const workspace = await createWorkspace(deps, { grants: Grant.options });
    const { client } = await connect(workspace.apiKey);
    const { tools } = await client.listTools();
    for (const { name, input } of calls()) {
      const { outputSchema } = tools.find((tool) => tool.name === name) ?? {};
      const answer = (await client.callTool({ name, arguments: input })).structuredContent;
      const would = (await client.callTool({ name, arguments: { ...input, dry_run: true } })).structuredContent;
      expect(would).toMatchObject({ dry_run: true });
      expect(asTyped(outputSchema, would)).toEqual(would);
      // `docs` returns the data of its topic, which its schema cannot name completely.
      if (name !== 'docs') expect(asTyped(outputSchema, answer)).toEqual(answer);
      expect(outputSchema).toMatchObject({
        required: ['lifecycle_id'],
        properties: { approval_id: { type: 'string' }, approval_url: { type: 'string' } },
      });
    }
    const rows = tools.find(({ name }) => name === 'query_context')?.outputSchema?.properties?.rows;
    expect(rows).toMatchObject({ type: 'array' });
  });
});

describe('tools/call', () => {
  test('returns the REST answer as structured content and as text', async () => {
    verifies('mcp.tools.call');
    const { apiKey } = await createWorkspace(deps, { grants: Grant.options });
    const rest = apiClient(testRun().url, bearer(apiKey));
    const { client } = await connect(apiKey);
    await client.listTools();
    for (const { name, route, input, volatile } of calls()) {
      const { body } = await rest.post(route, input);
      const result = await client.callTool({ name, arguments: input });
      expect(result).toMatchObject({ structuredContent: { lifecycle_id: expect.any(String) } });
      expect(result.isError).toBeFalsy();
      const strip = ({ lifecycle_id: _, ...rest }: any) =>
        Object.fromEntries(Object.entries(rest).filter(([field]) => !volatile.includes(field)));
      expect(strip(result.structuredContent)).toEqual(strip(body));
      expect(textOf(result)).toEqual(result.structuredContent);
    }
  });

  test('takes the project of a path from the credential', async () => {
    const { apiKey } = await createWorkspace(deps);
    const { client } = await connect(apiKey);
    await client.listTools();
    const set = await client.callTool({ name: 'project_mode', arguments: { mode: 'governed' } });
    expect(set.structuredContent).toMatchObject({ mode: 'governed' });
    const read = await client.callTool({ name: 'get_project_mode', arguments: {} });
    expect(read.structuredContent).toMatchObject({ mode: 'governed' });
    const foreign = await client.callTool({
      name: 'project_mode',
      arguments: { mode: 'simple', projectId: 'another' },
    });
    expect(textOf(foreign)).toMatchObject({ error: 'S4:validate-input' });
  });

  test('reports the effect of a dry run', async () => {
    const { apiKey } = await createWorkspace(deps);
    const { client } = await connect(apiKey);
    await client.listTools();
    const result = await client.callTool({
      name: 'save_context',
      arguments: { entities: [{ type: 'Thing', name: 'one' }], dry_run: true },
    });
    expect(result.structuredContent).toMatchObject({ dry_run: true, would: expect.anything() });
  });

  test('serves a hundred concurrent calls in one session', async () => {
    const { apiKey } = await createWorkspace(deps);
    const { client } = await connect(apiKey);
    const results = await Promise.all(
      Array.from({ length: 100 }, () => client.callTool({ name: 'docs', arguments: { topic: 'errors' } })),
    );
    const ids = results.map(({ structuredContent }) => (structuredContent as any).lifecycle_id);
    expect(new Set(ids).size).toBe(100);
  });

  test('answers over the old transport and in the stateless revision', async () => {
    verifies('mcp.sse', 'mcp.stateless-revision');
    const { apiKey } = await createWorkspace(deps);
    for (const client of [await connectSse(apiKey), await connectModern(apiKey)]) {
      await client.listTools();
      const result = await client.callTool({ name: 'docs', arguments: { topic: 'governance' } });
      expect(result.structuredContent).toMatchObject({ auth_kind: 'api_key', mode: 'simple' });
    }
  });

  test('refuses unknown tools', async () => {
    const { apiKey } = await createWorkspace(deps);
    await expect((await connect(apiKey)).client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
    await expect((await connectModern(apiKey)).callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
  });

  test('names the tool that a caller means by its name in the REST API', async () => {
    const { apiKey } = await createWorkspace(deps);
    const call = { name: 'query-context', arguments: {} };
    for (const client of [(await connect(apiKey)).client, await connectModern(apiKey)])
      await expect(client.callTool(call)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('its name over MCP is query_context'),
      });
  });
});

/** A repository belongs to one organization, so each test needs its own. */
const calls = (): { name: string; route: string; input: Record<string, unknown>; volatile: string[] }[] => [
  {
    name: 'save_context',
    route: '/v1/save-context',
    input: { entities: [{ id: 'one', type: 'Thing', name: 'one', properties: { size: 1 } }] },
    // The second call changes nothing.
    volatile: ['bookmark', 'changes'],
  },
  {
    name: 'query_context',
    route: '/v1/query-context',
    input: { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN count(n) AS things' },
    volatile: ['relationships'],
  },
  { name: 'ontology', route: '/v1/ontology', input: {}, volatile: [] },
  { name: 'docs', route: '/v1/docs', input: { topic: 'tools' }, volatile: ['quota'] },
  { name: 'orchestrate', route: '/v1/orchestrate', input: { operation: 'list' }, volatile: [] },
  { name: 'save_model', route: '/v1/save-model', input: { model: 'offline' }, volatile: ['updated_at', 'saved_at'] },
  {
    name: 'bind_repository',
    route: '/v1/bind-repository',
    input: { repository: `octo/${newId()}` },
    volatile: ['bound_at', 'webhook_secret'],
  },
  {
    name: 'catalog_ingest',
    route: '/v1/catalog/ingest',
    input: { source: 'crm', entities: [{ id: 'two', type: 'Thing', name: 'two' }] },
    volatile: ['bookmark', 'changes'],
  },
];
