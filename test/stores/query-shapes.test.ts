import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { collections as definitions } from '../../src/collections.js';
import type { Index } from '../../src/stores/collections.js';
import { fill, findsOf, useScratchDatabase, type Find } from '../support/documents-examined.js';
import { openEventStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import { startExecution } from '../support/executions.js';
import { useDeps } from '../support/fixture.js';
import { flowThatCalls } from '../support/flows.js';
import { addressOf, createWorld, lists, type World } from '../support/list-cases.js';
import { ownProduct } from '../support/own-product.js';
import type { Api } from '../support/processes.js';
import { isServed, shapesOfCommand, shapesOfFilter } from '../support/query-shapes.js';
import { startReplicaSet } from '../support/replica-set.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

/**
 * API and worker access the record store through a proxy that records every command. `isServed`
 * (test/support/query-shapes.ts) compares each recorded filter and order with the index table by the rules of MongoDB:
 * the leading keys of one index must cover every selective equality and then the order. The test fails if no index
 * serves a query of a collection that grows with its tenants. For the collections that grow fastest, the server itself
 * says how many documents it looks at. The tests cover only the queries of the calls below: add a call for each route
 * with a new query.
 */
const uri = testRun().env.MONGODB_URI ?? '';
const members = await startReplicaSet(uri);
const deps = useDeps();
const product = ownProduct({ MONGODB_URI: members.uri(new URL(uri).pathname.slice(1)) });
const scratch = await useScratchDatabase(uri);
let api: Api;
beforeAll(async () => {
  [api] = await Promise.all([product.api(), product.worker()]);
  await listEverything();
});
afterAll(() => Promise.all([members.close(), scratch.close()]));

/** Collections that are read completely, with the reason. */
const readWhole: Record<string, string> = { signing_keys: 'a handful of keys for the whole deployment' };

/** Queries that an index serves in part, because they are rare, with the reason. */
const servedInPart: Record<string, string> = {
  'executions: projectID, executed_by._id, status': 'the runs of a person who has lost a role are read once',
};

/** The rows of a table have their own collection. Callers choose filters and orders by its columns. */
const rowIndexes: Index[] = [{ keys: { row_id: 1 }, options: { unique: true } }];
const indexesOf = (collection: string): readonly Index[] =>
  collection.startsWith('table_') ? rowIndexes : (definitions.find(({ name }) => name === collection)?.indexes ?? []);

function unserved(): string[] {
  const shapes = members.sent.flatMap(shapesOfCommand).filter(({ collection, equal, range }) => {
    const isPageOfRows = collection.startsWith('table_') && [...equal, ...range].every((field) => field === 'row_id');
    const isRare = `${collection}: ${equal.join(', ')}` in servedInPart;
    return !(collection in readWhole) && !isRare && !isPageOfRows;
  });
  return [
    ...new Set(shapes.filter((shape) => !isServed(shape, indexesOf(shape.collection))).map((s) => JSON.stringify(s))),
  ];
}

async function listEverything(): Promise<void> {
  for (const [route, open] of Object.entries(lists)) {
    const world = await createWorld(deps, api.url);
    const list = await open(world);
    for (let made = 0; made < 2; made += 1) await list.make();
    const address = addressOf(route, world, list, 1);
    const { body } = await world.api.get(address);
    const next = await world.api.get(`${address}&cursor=${body.next_cursor}`);
    expect([route, next.status]).toEqual([route, 200]);
    if (route === '/agentflow') expect((await world.api.get('/agentflow?text=a')).status).toBe(200);
    if (route === '/{projectID}/execution_flows') {
      const states = ['state=running', 'state=waiting', 'state=failed', 'state=cancelled', 'text=a&from=1&to=9'];
      const origins = ['agentflow_id=a&agentflow_version=1', 'executed_by=a', 'schedule_id=a'];
      for (const filter of [...states, ...origins])
        expect((await world.api.get(`/${world.projectID}/execution_flows?${filter}`)).status).toBe(200);
      await followProject(world.projectID, world.workspace.apiKey);
      await followRun(world);
    }
  }
}

async function followProject(projectID: string, apiKey: string): Promise<void> {
  const resume = { 'x-api-key': apiKey, 'last-event-id': String(Date.now() - 60_000) };
  const stream = await openEventStream(`${api.url}/${projectID}/events`, resume);
  await eventually(() => expect(stream.events.length).toBeGreaterThan(0));
  stream.leave();
}

async function followRun({ workspace }: World): Promise<void> {
  const run = await startExecution(workspace, flowThatCalls([]));
  const stream = await openEventStream(`${api.url}/execute_flow/${run}/events`, { 'x-api-key': workspace.apiKey });
  await stream.ended;
  expect(stream.events.at(-1)?.event).toBe('completed');
}

/** Collections with many documents, of which most belong to other runs. */
const large = ['execution_events', 'executions', 'lifecycles', 'approvals'] as const;
const documentsOfOthers = 5_000;
const fewDocuments = 100;

function readsOf(collection: string): Find[] {
  const reads = members.sent.filter((command) => command.collection === collection).flatMap(findsOf);
  const byShape = new Map(
    reads.map((read) => [JSON.stringify(shapesOfFilter(read.find, read.filter, read.sort)), read]),
  );
  return [...byShape.values()].filter(({ filter, limit }) => Object.keys(filter).length > 0 || limit === undefined);
}

describe('every query that creates and lists records, and those of the workflows', () => {
  test('is served by an index of the index table', async () => {
    verifies('store.indexes.complete');
    expect(members.sent.flatMap(shapesOfCommand).length).toBeGreaterThan(500);
    expect(unserved()).toEqual([]);
  });

  test.each(large)('looks at few documents of %s that it does not return', async (name) => {
    verifies('store.reads.in-index');
    const own = await deps.mongo.db.collection(name).find({}).limit(fewDocuments).toArray();
    await fill(scratch.db, name, indexesOf(name), own, documentsOfOthers);
    const reads = readsOf(name);
    expect(reads.length).toBeGreaterThan(0);
    const wasteful: unknown[] = [];
    for (const read of reads) {
      const wasted = await scratch.wasted(read);
      if (wasted > fewDocuments) wasteful.push({ ...read, wasted });
    }
    expect(wasteful).toEqual([]);
  });
});
