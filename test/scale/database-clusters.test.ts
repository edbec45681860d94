import { collections as definitions } from '../../src/collections.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import { toAppError } from '../../src/http/errors.js';
import { createMongo } from '../../src/stores/mongo.js';
import { createGraph } from '../../src/stores/neo4j.js';
import { inReadTransaction, inWriteTransaction } from '../../src/graph/store/sessions.js';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { createGatewayWorkspace } from '../support/gateway.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { startReplicaSet, type ReplicaSet } from '../support/replica-set.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const addresses: Record<string, string> = {};
const product = ownProduct(addresses);
let members: ReplicaSet;
let api: Api;

beforeAll(async () => {
  const uri = testRun().env.MONGODB_URI ?? '';
  members = await startReplicaSet(uri);
  addresses.MONGODB_URI = members.uri(new URL(uri).pathname.slice(1));
  addresses.NEO4J_URI = (testRun().env.NEO4J_URI ?? '').replace(/^bolt:/, 'neo4j:');
  api = await product.api();
});
afterAll(() => members.close());

describe('an API process with a replica set, one member of which is down, and a Neo4j cluster', () => {
  test('is ready, stores its records, and finds in the graph what was just saved', async () => {
    verifies('scale.database-clusters');
    await eventually(async () =>
      expect(await (await fetch(`${api.url}/readyz`)).json()).toMatchObject({ status: 'ready' }),
    );
    const { gateway, projectID } = await createGatewayWorkspace(deps, { url: api.url });
    for (let round = 0; round < 5; round += 1) {
      const id = newId();
      expect(
        await gateway.post('/v1/save-context', { entities: [{ id, type: 'Person', name: `Ada ${round}` }] }),
      ).toMatchObject({ status: 200 });
      const found = await gateway.post('/v1/query-context', {
        query: 'MATCH (p:Person {id: $id}) WHERE p.project_id = $project_id RETURN p',
        params: { id },
      });
      expect(found).toMatchObject({ status: 200, body: { entities: [{ id }] } });
      expect(await deps.mongo.collections.lifecycles.findOne({ _id: found.body.lifecycle_id })).toMatchObject({
        project_id: projectID,
      });
    }
  });
});

describe('the address of MongoDB', () => {
  test('determines hosts, replica set, TLS, reads, writes and retries', async () => {
    verifies('scale.database-clusters');
    const uri =
      'mongodb://u:p%2Cw@a.test:27017,b.test:27018,c.test/records?replicaSet=rs0&tls=true&w=majority&readPreference=primaryPreferred&retryWrites=false';
    const { db, close } = createMongo({ collections: definitions, uri });
    const { hosts, replicaSet, tls, writeConcern, readPreference, retryWrites } = db.client.options;
    expect(hosts.map(String)).toEqual(['a.test:27017', 'b.test:27018', 'c.test:27017']);
    expect({
      name: db.databaseName,
      replicaSet,
      tls,
      w: writeConcern.w,
      mode: readPreference.mode,
      retryWrites,
    }).toEqual({
      name: 'records',
      replicaSet: 'rs0',
      tls: true,
      w: 'majority',
      mode: 'primaryPreferred',
      retryWrites: false,
    });
    await close();
    const plain = createMongo({ collections: definitions, uri: 'mongodb://a.test,b.test/?replicaSet=rs0' });
    expect([plain.db.databaseName, plain.db.client.options.retryWrites]).toEqual(['service', true]);
    await plain.close();
  });

  test('reports a set without a primary as unavailable, not as an internal error', () => {
    verifies('scale.database-clusters');
    const codeOf = (code: number) => toAppError(new MongoServerError({ message: 'not primary', code })).code;
    expect([10_107, 189, 11_602].map(codeOf)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect(codeOf(2)).toBe('internal_error');
  });
});

describe('the address of Neo4j', () => {
  test.each([
    ['bolt://a.test:7687', false],
    ['bolt+s://a.test:7687', true],
    ['neo4j://a.test:7687', false],
    ['neo4j+s://a.test:7687', true],
    ['neo4j+ssc://a.test', true],
  ])('%s determines routing and encryption by its scheme', async (uri, encrypted) => {
    verifies('scale.database-clusters');
    const graph = createGraph({ uri, user: 'neo4j', password: 'p' });
    expect(graph.driver.isEncrypted()).toBe(encrypted);
    await graph.close();
  });

  test('with the routing scheme also works for a single server, whose routing table names itself', async () => {
    verifies('scale.database-clusters');
    const { NEO4J_USER: user = '', NEO4J_PASSWORD: password = '' } = testRun().env;
    const graph = createGraph({ uri: addresses.NEO4J_URI ?? '', user, password });
    const id = newId();
    await inWriteTransaction(graph, id, (tx) => tx.run('CREATE (:ClusterTest {id: $id})', { id }));
    const { records, summary } = await inReadTransaction(graph, (tx) =>
      tx.run('MATCH (n:ClusterTest {id: $id}) RETURN count(n) AS n', { id }),
    );
    expect([records[0]?.get('n'), summary.queryType]).toEqual([1, 'r']);
    await inWriteTransaction(graph, id, (tx) => tx.run('MATCH (n:ClusterTest {id: $id}) DELETE n', { id }));
    await graph.close();
  });
});
