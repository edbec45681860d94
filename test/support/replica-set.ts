import { createServer, connect, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import { answerOf, answerTo, commandOf, onMessages, withAnswer, type SentCommand } from './mongo-wire.js';
import { freePort, listen } from './ports.js';
import { createReplication, isMajorityWrite } from './replication.js';

/**
 * The fault of one command. `not_primary`: it is refused, not applied. `cut_before`, `cut_after`: its connection breaks
 * before or after it is applied. `not_replicated`: it is applied, but its write concern is not met in time.
 * `rolled_back`: it is applied, and a failover undoes it. `until`: it is applied when the promise resolves, even if its client is
 * gone by then; `applied` is called after it.
 */
export type Fault =
  | 'not_primary'
  | 'cut_before'
  | 'cut_after'
  | 'not_replicated'
  | 'rolled_back'
  | { until: Promise<unknown>; applied?: () => void };

export interface ReplicaSet {
  name: string;
  /** Its members as in a URI: one that does not answer, and the primary. */
  hosts: string[];
  uri(database: string): string;
  /** All commands since the start, except the handshakes. */
  sent: SentCommand[];
  /** The next command that fits meets `fault`. Resolves once that has happened. */
  fault(fits: (command: SentCommand) => boolean, fault: Fault): Promise<SentCommand>;
  /** Stops the replication of writes to other members: writes with majority concern wait. */
  isolate(): void;
  /** The writes that were applied since then and wait for another member. */
  waiting: SentCommand[];
  /** Fails over to another primary: all connections break, and unreplicated writes are undone. */
  failover(): Promise<void>;
  close(): Promise<void>;
}

interface Planned {
  fits(command: SentCommand): boolean;
  fault: Fault;
  met(command: SentCommand): void;
}

/**
 * Simulates a replica set with sessions and retryable writes, with one member down, in front of a single server. Like
 * MongoDB, it repeats its answer to a write that the driver repeats.
 */
export async function startReplicaSet(uri: string): Promise<ReplicaSet> {
  const target = new URL(uri);
  const authSource = target.searchParams.get('authSource');
  const name = 'rs0';
  const sockets = new Set<Socket>();
  const sent: SentCommand[] = [];
  const planned: Planned[] = [];
  const waiting: SentCommand[] = [];
  const answered = new Map<string, Buffer>();
  const replication = createReplication(uri);

  /** Undefined if the connection breaks instead of an answer. */
  async function serve(message: Buffer, forward: (message: Buffer) => Promise<Buffer>): Promise<Buffer | undefined> {
    const command = commandOf(message);
    if (!command || /^(hello|ismaster)$/i.test(command.name)) return asPrimary(await forward(message), described);
    sent.push(command);
    const at = planned.findIndex(({ fits }) => fits(command));
    const [plan] = at < 0 ? [] : planned.splice(at, 1);
    plan?.met(command);
    if (plan?.fault === 'not_primary') return answerTo(message, notPrimary(command));
    if (plan?.fault === 'cut_before') return undefined;
    if (plan?.fault === 'rolled_back') return void (await rollBack(command, () => forward(message)));
    if (typeof plan?.fault === 'object') await plan.fault.until;
    const answer = await apply(command, message, forward);
    if (typeof plan?.fault === 'object') plan.fault.applied?.();
    if (plan?.fault === 'not_replicated' && answer)
      return withAnswer(answer, { ...answerOf(answer), writeConcernError });
    return plan?.fault === 'cut_after' ? undefined : answer;
  }

  async function rollBack(command: SentCommand, forward: () => Promise<Buffer>): Promise<void> {
    await replication.remember(command);
    await replication.told(command, answerOf(await forward()) ?? {});
    await failover();
  }

  async function failover(): Promise<void> {
    await replication.undo();
    for (const socket of sockets) socket.destroy();
    replication.heal();
  }

  async function apply(
    command: SentCommand,
    message: Buffer,
    forward: (message: Buffer) => Promise<Buffer>,
  ): Promise<Buffer | undefined> {
    const key = retryKey(command);
    const before = key === undefined ? undefined : answered.get(key);
    if (before) return answerTo(message, before);
    const { isolated } = replication;
    if (!isolated) {
      const answer = await forward(message);
      if (key !== undefined) answered.set(key, answer);
      return answer;
    }
    await replication.remember(command);
    const answer = await forward(message);
    const told = await replication.told(command, answerOf(answer) ?? {});
    if (!isMajorityWrite(command)) return withAnswer(answer, told);
    waiting.push(command);
    await isolated;
    return undefined;
  }

  const server = createServer((client) => {
    const behind = connect(Number(target.port), target.hostname);
    let take: (answer: Buffer) => void = () => undefined;
    let served = Promise.resolve();
    const forward = (message: Buffer) =>
      new Promise<Buffer>((resolve) => void ((take = resolve), behind.write(message)));
    const end = () => [client, behind].forEach((each) => void (each.destroy(), sockets.delete(each)));
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    behind.on('close', end);
    // A server applies what it has received from a client that is gone.
    client.on('close', () => void served.then(end));
    onMessages(behind, (answer) => take(answer));
    onMessages(client, (message) => {
      served = serve(message, forward).then(
        (answer) => void (answer ? client.write(answer) : client.destroy()),
        () => void client.destroy(),
      );
    });
  });
  const own = `127.0.0.1:${(await listen(server)).port}`;
  const hosts = [`127.0.0.1:${await freePort()}`, own];
  const described = {
    ...{
      setName: name,
      setVersion: 1,
      hosts,
      primary: own,
      me: own,
      ismaster: true,
      isWritablePrimary: true,
      secondary: false,
    },
    logicalSessionTimeoutMinutes: 30,
  };
  return {
    name,
    hosts,
    // By default, the driver looks for another primary every half second.
    uri: (database) =>
      `mongodb://${target.username}:${target.password}@${hosts.join(',')}/${database}` +
      `?replicaSet=${name}&minHeartbeatFrequencyMS=20${authSource ? `&authSource=${authSource}` : ''}`,
    sent,
    fault: (fits, fault) => new Promise((met) => planned.push({ fits, fault, met })),
    isolate() {
      waiting.length = 0;
      replication.isolate();
    },
    waiting,
    failover,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await replication.close();
    },
  };
}

const writeConcernError = {
  code: 64,
  codeName: 'WriteConcernTimeout',
  errmsg: 'waiting for replication timed out',
  errInfo: { wtimeout: true },
};

/** Only an answer to `hello` has the range of wire versions. */
function asPrimary(message: Buffer, described: object): Buffer {
  const answer = answerOf(message);
  return answer?.maxWireVersion === undefined ? message : withAnswer(message, { ...answer, ...described });
}

function retryKey({ body }: SentCommand): string | undefined {
  return body.txnNumber === undefined
    ? undefined
    : `${String(body.lsid?.id?.toString('hex'))}:${String(body.txnNumber)}`;
}

function notPrimary({ body }: SentCommand): Document {
  const errorLabels = body.txnNumber === undefined ? [] : ['RetryableWriteError'];
  return { ok: 0, code: 10_107, codeName: 'NotWritablePrimary', errmsg: 'not primary', errorLabels };
}
