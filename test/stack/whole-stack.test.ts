import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import neo4j from 'neo4j-driver';
import { startStack, type Stack } from '../../stack/index.js';
import { searchAttributeTypes } from '../../workflows/search-attributes.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'whole-stack-'));
const env = { ...process.env, TEMPORAL_ADDRESS: '', MONGODB_URI: '', NEO4J_URI: '' };
let running: Stack | undefined;

afterAll(async () => {
  await running?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Stores one record in each server and returns the count of each. */
async function storeInEach({ environment }: Stack, name: string): Promise<number[]> {
  const connection = await Connection.connect({ address: environment.TEMPORAL_ADDRESS ?? '' });
  const mongo = new MongoClient(environment.MONGODB_URI ?? '');
  const driver = neo4j.driver(
    environment.NEO4J_URI ?? '',
    neo4j.auth.basic('neo4j', environment.NEO4J_PASSWORD ?? ''),
    { disableLosslessIntegers: true },
  );
  try {
    const { workflow } = new Client({ connection });
    await workflow.start('nothing', { taskQueue: 'nobody', workflowId: name });
    const collection = mongo.db().collection<{ _id: string }>('kept');
    await collection.insertOne({ _id: name });
    const { records } = await driver.executeQuery(
      'CREATE (:Kept) WITH 1 AS one MATCH (k:Kept) RETURN count(k) AS kept',
    );
    const workflows = await Promise.all(
      ['first', 'second'].map((id) =>
        workflow
          .getHandle(id)
          .describe()
          .then(
            () => 1,
            () => 0,
          ),
      ),
    );
    return [
      workflows.reduce((sum, one) => sum + one, 0),
      await collection.countDocuments(),
      records[0]?.get('kept') as number,
    ];
  } finally {
    await Promise.all([connection.close(), mongo.close(), driver.close()]);
  }
}

describe('a stack of our own three servers', () => {
  test('returns when each answers and is prepared, runs next to another stack, and keeps its data after a stop', async () => {
    verifies('stack.waits-until-answering', 'stack.temporal-prepared', 'stack.data-survives', 'stack.free-ports');
    running = await startStack({ dataDir, env });
    for (const name of ['TEMPORAL_ADDRESS', 'MONGODB_URI', 'NEO4J_URI'])
      expect(running.environment[name]).not.toBe(testRun().env[name]);
    const connection = await Connection.connect({ address: running.environment.TEMPORAL_ADDRESS ?? '' });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    await connection.close();
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(searchAttributeTypes)));
    expect(await storeInEach(running, 'first')).toEqual([1, 1, 1]);
    await running.stop();
    running = await startStack({ dataDir, env });
    expect(await storeInEach(running, 'second')).toEqual([2, 2, 2]);
  });
});
