import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import neo4j from 'neo4j-driver';
import { startStack } from '../../stack/index.js';
import { verifies } from '../support/verifies.js';

const ownServers = { TEMPORAL_ADDRESS: '', MONGODB_URI: '', NEO4J_URI: '' };

test('the local servers are closed to other users and to web pages', async () => {
  verifies('stack.own-passwords');
  const dataDir = mkdtempSync(path.join(tmpdir(), 'closed-stack-'));
  const stack = await startStack({ dataDir, env: { ...process.env, ...ownServers } });
  const { MONGODB_URI = '', NEO4J_URI = '', PROTECTED_TARGETS = '' } = stack.environment;
  try {
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    for (const server of ['mongodb', 'neo4j'])
      expect(statSync(path.join(dataDir, server, 'password')).mode & 0o777).toBe(0o600);

    const { host, pathname } = new URL(MONGODB_URI);
    for (const credentials of ['', 'service:@', 'service:wrong@', 'other:wrong@']) {
      const client = new MongoClient(`mongodb://${credentials}${host}${pathname}?authSource=admin`);
      await expect(client.db().collection('x').findOne()).rejects.toThrow(/auth/i);
      await expect(client.db().collection<{ _id: string }>('x').insertOne({ _id: '1' })).rejects.toThrow(/auth/i);
      await client.close();
    }
    for (const password of ['', 'neo4j', 'wrong']) {
      const driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic('neo4j', password));
      await expect(driver.executeQuery('RETURN 1')).rejects.toThrow(/auth/i);
      await driver.close();
    }
    const [http = ''] = PROTECTED_TARGETS.split(',');
    for (const path of ['/api/v1/namespaces', '/api/v1/namespaces/default/workflows/x/signal/cancel']) {
      const headers = { 'content-type': 'text/plain', origin: 'https://attacker.example' };
      const answer = await fetch(`http://${http}${path}`, { method: 'POST', headers, body: '{}' });
      expect([path, answer.status]).toEqual([path, 403]);
    }
  } finally {
    await stack.stop();
    rmSync(dataDir, { recursive: true });
  }
});
