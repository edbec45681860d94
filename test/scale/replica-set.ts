import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { BSON } from 'mongodb';
import { freePort } from '../support/ports.js';

const { deserialize, serialize } = BSON;

export interface ReplicaSet {
  name: string;
  /** Its members as a URI names them: one that does not answer, and the primary. */
  hosts: string[];
  close(): void;
}

const headerBytes = 16;
/** Where the one document of an answer begins: OP_REPLY, OP_MSG with one body section (MongoDB Wire Protocol). */
const documentAt: Record<number, number> = { 1: headerBytes + 20, 2013: headerBytes + 5 };

/**
 * A replica set of which one member is down, before a single server: what the server says of itself becomes what the
 * primary of the set says, all else passes unchanged. It cannot lose its primary.
 */
export async function startReplicaSet(target: { host: string; port: number }): Promise<ReplicaSet> {
  const name = 'rs0';
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const behind = connect(target);
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => [client, behind].forEach((each) => each.destroy()));
    }
    client.pipe(behind);
    eachMessage(behind, (message) => void client.write(asPrimary(message, described)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hosts = [`127.0.0.1:${await freePort()}`, own];
  const described = { setName: name, setVersion: 1, hosts, primary: own, me: own, ismaster: true, isWritablePrimary: true, secondary: false };
  return {
    name,
    hosts,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function eachMessage(socket: Socket, take: (message: Buffer) => void): void {
  let buffered = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    buffered = Buffer.concat([buffered, chunk]);
    while (buffered.length >= 4 && buffered.length >= buffered.readInt32LE(0)) {
      const length = buffered.readInt32LE(0);
      take(buffered.subarray(0, length));
      buffered = buffered.subarray(length);
    }
  });
}

/** Only an answer to `hello` tells the range of wire versions. */
function asPrimary(message: Buffer, described: object): Buffer {
  const at = documentAt[message.readInt32LE(12)];
  if (at === undefined || !message.includes('maxWireVersion')) return message;
  const answer = deserialize(message.subarray(at));
  if (answer.maxWireVersion === undefined) return message;
  const changed = Buffer.concat([message.subarray(0, at), serialize({ ...answer, ...described })]);
  changed.writeInt32LE(changed.length, 0);
  return changed;
}
