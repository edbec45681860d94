import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { createMongo } from '../../src/stores/mongo.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/ports.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

test('a process whose first connection failed uses the server when it becomes available', async () => {
  verifies('store.first-connection');
  const port = Number(await freePort());
  const real = new URL(testRun().env.MONGODB_URI ?? '');
  const through = Object.assign(new URL(real), { port: String(port) });
  const mongo = createMongo({ uri: through.href, collections: [] });
  const server = createServer((socket) => {
    const upstream = connect(Number(real.port), real.hostname);
    for (const each of [socket, upstream]) each.on('error', () => (socket.destroy(), upstream.destroy()));
    socket.pipe(upstream).pipe(socket);
  });
  try {
    await expect(mongo.ping()).rejects.toThrow();
    await expect(mongo.ping()).rejects.toThrow();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    await eventually(() => mongo.ping());
  } finally {
    await mongo.close();
    server.close();
  }
});
