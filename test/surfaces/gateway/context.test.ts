import { describe, expect, test } from '@jest/globals';
import { useDeps } from '../../support/fixture.js';
import { createGatewayWorkspace, stagesOf } from '../../support/gateway.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

const knowledge = {
  source: 'handbook',
  entities: [
    { id: 'acme', type: 'Customer', name: 'Acme', properties: { city: 'Oslo', contact: 'jo@acme.example' } },
    { id: 'bolt', type: 'Product', name: 'Bolt M8', properties: { price: 3.5 } },
  ],
  relationships: [{ from: 'acme', type: 'BOUGHT', to: 'bolt', properties: { pieces: 12 } }],
  facts: [{ subject: 'acme', predicate: 'tier', object: 'gold', confidence: 0.9 }],
};

describe('POST /v1/save-context and /v1/query-context', () => {
  test('store a save once and return it by Cypher with provenance, redacted', async () => {
    verifies(
      'gateway.save-context',
      'gateway.save-context.idempotent',
      'gateway.query',
      'gateway.query.entity',
      'gateway.query.relationship',
      'gateway.query.provenance',
      'gateway.query.redaction',
    );
    const { gateway, projectID } = await createGatewayWorkspace(deps);
    const saved = await gateway.post('/v1/save-context', knowledge);
    expect(saved).toMatchObject({
      status: 200,
      body: { saved: { entities: 2, relationships: 1, facts: 1 }, lifecycle_id: expect.any(String) },
    });
    expect((await gateway.post('/v1/save-context', knowledge)).status).toBe(200);
    const query = 'MATCH (c:Customer)-[b:BOUGHT]->(p:Product) WHERE c.project_id = $project_id RETURN c, b, p';
    const answer = await gateway.post('/v1/query-context', { query });
    expect(answer).toMatchObject({
      status: 200,
      body: { limit: 25, truncated: false, lifecycle_id: expect.any(String) },
    });
    expect(answer.body.rows).toHaveLength(1);
    const acme = answer.body.entities.find(({ id }: { id: string }) => id === 'acme');
    expect(acme).toMatchObject({
      type: 'Customer',
      name: 'Acme',
      project_id: projectID,
      properties: { city: 'Oslo' },
      provenance: {
        source: 'handbook',
        saved_by: expect.any(String),
        recorded_at: expect.any(Number),
        consumed: { lifecycle_id: answer.body.lifecycle_id },
      },
    });
    expect(JSON.stringify(answer.body)).not.toContain('jo@acme.example');
    expect(answer.body.relationships).toMatchObject([
      { type: 'BOUGHT', from: 'acme', to: 'bolt', properties: { pieces: 12 } },
    ]);
    const lifecycle = await gateway.get(`/v1/lifecycles/${answer.body.lifecycle_id}`);
    expect(lifecycle.body.consumed).toEqual(expect.arrayContaining(['acme', 'bolt']));
  });

  test('answer natural language from the same graph', async () => {
    verifies('gateway.query.natural-language', 'gateway.query.fact');
    const { gateway } = await createGatewayWorkspace(deps);
    await gateway.post('/v1/save-context', knowledge);
    const answer = await gateway.post('/v1/query-context', { query: 'what did Acme buy?' });
    expect(answer.status).toBe(200);
    expect(answer.body.entities.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(['acme', 'bolt']));
    expect(answer.body.facts).toMatchObject([{ subject: 'acme', predicate: 'tier', object: 'gold', confidence: 0.9 }]);
  });

  test('refuse writes, a missing project filter and a project among the parameters with 422 at S4', async () => {
    verifies('gateway.query.write-clause', 'gateway.query.project-filter', 'gateway.query.params', 'errors.status.422');
    const { gateway } = await createGatewayWorkspace(deps);
    const refused = [
      { query: 'CREATE (n:Entity {project_id: $project_id}) RETURN n' },
      { query: 'MATCH (n) WHERE n.project_id = $project_id SET n.x = 1 RETURN n' },
      { query: 'MATCH (n) RETURN n' },
      { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n', params: { project_id: 'other' } },
    ];
    for (const body of refused) {
      expect(await gateway.post('/v1/query-context', body)).toMatchObject({
        status: 422,
        body: { error: 'S4:validate-input', lifecycle_id: expect.any(String) },
      });
    }
  });

  test('never return what another project saved, whatever the filter', async () => {
    const mine = await createGatewayWorkspace(deps);
    const theirs = await createGatewayWorkspace(deps);
    await theirs.gateway.post('/v1/save-context', knowledge);
    for (const query of [
      'MATCH (n) WHERE n.project_id = $project_id OR true RETURN n',
      'MATCH (n) WHERE n.project_id = $project_id WITH count(n) AS c MATCH (m) RETURN m',
    ]) {
      expect(await mine.gateway.post('/v1/query-context', { query })).toMatchObject({
        status: 200,
        body: { entities: [], rows: [] },
      });
    }
  });

  test('are stopped at their timeout with 504', async () => {
    verifies('errors.status.504', 'gateway.query.slow');
    const { gateway } = await createGatewayWorkspace(deps);
    await gateway.post('/v1/save-context', {
      source: 's',
      entities: Array.from({ length: 60 }, (_, at) => ({ id: `n${at}`, type: 'Node', name: `n${at}`, properties: {} })),
    });
    const query = 'MATCH (a), (b), (c), (d), (e) WHERE a.project_id = $project_id RETURN count(*) AS all';
    const begun = Date.now();
    const cut = await gateway.post('/v1/query-context', { query, timeout_ms: 300 });
    expect(cut).toMatchObject({ status: 504, body: { error: 'S8:execute', lifecycle_id: expect.any(String) } });
    // Without its own timeout the query would run for 30 s.
    expect(Date.now() - begun).toBeLessThan(28_000);
  });

  test('refuse save-context at S5 in governed mode, and still answer queries', async () => {
    verifies('gateway.save-context.simple-mode-only', 'gateway.mode.get', 'gateway.mode.put');
    const { gateway, projectID } = await createGatewayWorkspace(deps);
    expect(await gateway.get(`/v1/projects/${projectID}/mode`)).toMatchObject({
      status: 200,
      body: { mode: 'simple' },
    });
    expect(await gateway.put(`/v1/projects/${projectID}/mode`, { mode: 'governed' })).toMatchObject({
      status: 200,
      body: { mode: 'governed' },
    });
    expect(await gateway.post('/v1/save-context', knowledge)).toMatchObject({
      status: 403,
      body: { error: 'S5:policy' },
    });
    const query = 'MATCH (n) WHERE n.project_id = $project_id RETURN n';
    expect((await gateway.post('/v1/query-context', { query })).status).toBe(200);
    for (const foreign of [
      await gateway.get('/v1/projects/another/mode'),
      await gateway.put('/v1/projects/another/mode', { mode: 'simple' }),
    ]) {
      expect(foreign).toMatchObject({ status: 403, body: { error: 'S2:resolve-scope' } });
      expect(await stagesOf(gateway, foreign.body.lifecycle_id)).toEqual(['S1:authenticate', 'S2:resolve-scope!']);
    }
  });
});

describe('POST /v1/docs', () => {
  test('reports the credential, its grants and the current quota for the topic governance', async () => {
    verifies('gateway.docs.governance', 'auth.kind.api-key');
    const { gateway } = await createGatewayWorkspace(deps);
    const first = await gateway.post('/v1/docs', { topic: 'governance' });
    const second = await gateway.post('/v1/docs', { topic: 'governance' });
    expect(first).toMatchObject({
      status: 200,
      body: { auth_kind: 'api_key', quota: { project_window_max: 120, org_window_max: 600 } },
    });
    expect(second.body.quota.project_window_used).toBe(first.body.quota.project_window_used + 1);
  });

  test('answers every topic and refuses unknown ones', async () => {
    verifies('gateway.docs.topics');
    const { gateway } = await createGatewayWorkspace(deps);
    for (const topic of ['governance', 'ontology', 'query', 'retrieval', 'tools', 'errors']) {
      expect((await gateway.post('/v1/docs', { topic })).status).toBe(200);
    }
    expect(await gateway.post('/v1/docs', { topic: 'weather' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });
});
