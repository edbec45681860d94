import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { connect, createServer, type Socket } from 'node:net';
import '../../src/stores/mongo.js';
import { listen, type Listening } from '../support/ports.js';
import { testRun } from '../support/run.js';

/** A proxy for the server. `freeze` stops reading from the driver, like a lost network. */
const through: { client: Socket; server: Socket }[] = [];
const freeze = () => through.forEach(({ client }) => client.pause());
let proxy: Listening;
let client: MongoClient;

beforeAll(async () => {
  const target = new URL(testRun().env.MONGODB_URI ?? '');
  const serverPort = Number(target.port);
  const relay = createServer((socket) => {
    const server = connect(serverPort, target.hostname);
    through.push({ client: socket, server });
    socket
      .on('data', (data) => server.write(data))
      .on('error', () => server.destroy())
      .on('close', () => server.destroy());
    server.pipe(socket).on('error', () => socket.destroy());
  });
  proxy = await listen(relay);
  target.port = String(proxy.port);
  target.searchParams.set('directConnection', 'true');
  client = new MongoClient(target.href, { socketTimeoutMS: 500, retryWrites: false });
});
afterAll(async () => {
  await client.close();
  for (const { client: socket, server } of through) [socket, server].forEach((each) => each.destroy());
  await proxy.close();
});

describe('a write whose connection stops answering', () => {
  test('fails when the connection is dropped, and frees its place in the pool', async () => {
    const checkedOut = new Set<number>();
    client.on('connectionCheckedOut', ({ connectionId }) => checkedOut.add(connectionId as number));
    client.on('connectionCheckedIn', ({ connectionId }) => checkedOut.delete(connectionId as number));
    const collection = client.db('silent').collection('letters');
    await collection.findOne({});
    freeze();
    await expect(collection.insertOne({ text: 'x'.repeat(12_000_000) })).rejects.toMatchObject({
      name: 'MongoNetworkTimeoutError',
    });
    expect(checkedOut).toEqual(new Set());
  });
});
