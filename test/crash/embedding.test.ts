import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import neo4j, { type Driver } from 'neo4j-driver';
import { startNeo4j } from '../../stack/neo4j.js';
import type { StartedService } from '../../stack/service.js';
import { sendError, sendVectors, useEmbeddingEndpoint } from '../support/embedding-endpoint.js';
import { sizeOf } from '../requirements/full-forms.js';
import { eventually } from '../support/eventually.js';
import { createKey, useDeps, type Workspace } from '../support/fixture.js';
import { bearerClient, createGatewayWorkspace } from '../support/gateway.js';
import type { ApiClient } from '../support/client.js';
import { ownProduct } from '../support/own-product.js';
import type { Api, ProductProcess } from '../support/processes.js';
import { verifies } from '../support/verifies.js';

/** Has its own graph, because a worker with an endpoint embeds every project that it finds. */
const deps = useDeps();
const endpoint = await useEmbeddingEndpoint();
const addresses: Record<string, string> = {
  EMBEDDING_BASE_URL: endpoint.baseUrl,
  EMBEDDING_MODEL: 'words',
  EMBEDDING_DIMENSIONS: '16',
};
const product = ownProduct(addresses);
const folder = mkdtempSync(path.join(tmpdir(), 'own-neo4j-'));
let graph: StartedService;
let driver: Driver;
let api: Api;
let worker: ProductProcess;

beforeAll(async () => {
  graph = await startNeo4j({ dataDir: folder, env: { ...process.env, NEO4J_URI: '' } });
  Object.assign(addresses, graph.environment);
  const { NEO4J_URI: uri = '', NEO4J_USER: user = '', NEO4J_PASSWORD: password = '' } = graph.environment;
  driver = neo4j.driver(uri, neo4j.auth.basic(user, password));
  [api, worker] = await Promise.all([product.api(), product.worker()]);
  await eventually(async () => expect((await fetch(`${api.url}/readyz`)).status).toBe(200));
});
afterAll(async () => {
  await driver.close();
  await graph.service.stop();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<{ workspace: Workspace; gateway: ApiClient }> {
  const workspace = await createGatewayWorkspace(deps, { url: api.url });
  return { workspace, gateway: bearerClient(await createKey(deps, workspace), api.url) };
}

async function retrieval(gateway: ApiClient): Promise<any> {
  const { status, body } = await gateway.post('/v1/docs', { topic: 'retrieval' });
  expect(status).toBe(200);
  return body.embeddings;
}

const complete = (gateway: ApiClient) =>
  eventually(async () =>
    expect(await retrieval(gateway)).toMatchObject({ coverage: 1, waiting: 0, building: null, error: null }),
  );

const people = (count: number, says = '') =>
  Array.from({ length: count }, (_, at) => ({
    id: `p${at}`,
    type: 'Person',
    name: `Person ${at}`,
    properties: { says: `${says}${at}` },
  }));

async function expectExactlyOneVectorEach({ projectID }: Workspace, count: number): Promise<void> {
  const { records } = await driver.executeQuery(
    `MATCH (n:Entity {project_id: $projectID}) OPTIONAL MATCH (v:_Vector {project: $projectID, id: n.id, kind: 'entity'})
     RETURN n.id AS id, n._search AS text, collect(v.hash) AS hashes`,
    { projectID },
  );
  expect(records).toHaveLength(count);
  for (const record of records)
    expect([record.get('id'), record.get('hashes')]).toEqual([
      record.get('id'),
      [
        createHash('sha256')
          .update(String(record.get('text')))
          .digest('hex'),
      ],
    ]);
}

const kills = sizeOf('EMBEDDING_KILLS');

describe('a worker that embeds', () => {
  test(
    'and is killed repeatedly loses nothing and writes nothing twice',
    async () => {
      verifies('embeddings.killed', 'embeddings.docs');
      const { workspace, gateway } = await open();
      let answers = 0;
      endpoint.answer((asked, res) => {
        answers += 1;
        setTimeout(() => sendVectors(asked, res, 16), 50);
      });
      for (let kill = 0; kill < kills; kill += 1) {
        const before = answers;
        const entities = people(300, `round ${kill} `);
        expect(await gateway.post('/v1/save-context', { entities })).toMatchObject({ status: 200 });
        await eventually(() => expect(answers).toBeGreaterThan(before + (kill % 3)), { everyMs: 5 });
        await worker.end('SIGKILL');
        worker = await product.worker();
      }
      await complete(gateway);
      await expectExactlyOneVectorEach(workspace, 300);
      await gateway.post('/v1/save-context', { entities: people(5, 'something else ') });
      await complete(gateway);
      await expectExactlyOneVectorEach(workspace, 300);
    },
    300_000 + kills * 60_000,
  );

  test('waits for an endpoint that is down or requests a pause, reports this, and completes', async () => {
    verifies('embeddings.failures', 'embeddings.docs');
    const { workspace, gateway } = await open();
    endpoint.answer((_, res) => sendError(res, 503));
    await gateway.post('/v1/save-context', { entities: people(3) });
    await eventually(async () =>
      expect(await retrieval(gateway)).toMatchObject({
        coverage: 0,
        waiting: 3,
        error: { message: 'the model endpoint answered with status 503: no' },
      }),
    );
    let limited = 0;
    endpoint.answer((asked, res) => {
      limited += 1;
      if (limited === 1) sendError(res, 429, { 'retry-after': '1' });
      else sendVectors(asked, res, 16);
    });
    await complete(gateway);
    expect(limited).toBeGreaterThan(1);
    await expectExactlyOneVectorEach(workspace, 3);
  });
});

describe('a worker that indexes texts in another language', () => {
  test('and is killed indexes every element', async () => {
    verifies('retrieval.language-killed');
    const { workspace, gateway } = await open();
    endpoint.answer(undefined);
    const batches = 3;
    for (let batch = 0; batch < batches; batch += 1) {
      const entities = people(1000).map(({ id, ...person }) => ({ ...person, id: `${batch}-${id}` }));
      expect(await gateway.post('/v1/save-context', { entities })).toMatchObject({ status: 200 });
    }
    const project = workspace.projectID;
    const count = async (pattern: string) => {
      const { records } = await driver.executeQuery(`MATCH ${pattern} RETURN count(*) AS count`, { project });
      return (records[0]?.get('count') as { toNumber(): number }).toNumber();
    };
    const language = async () => (await gateway.post('/v1/docs', { topic: 'retrieval' })).body.search.language;
    expect(await workspace.api.patch(`/settings/${project}`, { language: 'de' })).toMatchObject({ status: 200 });
    await eventually(async () => expect(await count('(n:_German {project_id: $project})')).toBeGreaterThan(0), {
      everyMs: 5,
    });
    await worker.end('SIGKILL');
    // A busy database may first answer that it is too slow.
    await eventually(async () =>
      expect(await gateway.post('/v1/query-context', { query: 'Person 7', limit: 1 })).toMatchObject({
        status: 200,
        body: { entities: [expect.anything()] },
      }),
    );
    worker = await product.worker();
    await eventually(async () => expect(await language()).toMatchObject({ analyzer: 'german', building: null }));
    expect(await count('(n:_German {project_id: $project})')).toBe(batches * 1000);
  });
});

describe('while Neo4j is down', () => {
  test('a query is answered 502 data_service_unreachable at S8, and recovers automatically', async () => {
    verifies(
      'downstream.graph-down',
      'errors.code.data_service_unreachable',
      'errors.status.502',
      'pipeline.s8-execute',
    );
    const { gateway: client } = await open();
    const query = { query: 'MATCH (n) WHERE n.project_id = $project_id RETURN n' };
    expect((await client.post('/v1/query-context', query)).status).toBe(200);
    await graph.service.stop();
    const down = await client.post('/v1/query-context', query);
    expect(down).toMatchObject({
      status: 502,
      body: { error: 'data_service_unreachable', lifecycle_id: expect.any(String) },
    });
    const lifecycle = await client.get(`/v1/lifecycles/${down.body.lifecycle_id}`);
    expect(lifecycle.body).toMatchObject({ status: 'failed' });
    await graph.service.restart();
    await eventually(async () => expect((await client.post('/v1/query-context', query)).status).toBe(200));
  });
});
