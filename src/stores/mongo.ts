import { MongoBulkWriteError, MongoClient, MongoServerError, type Db } from 'mongodb';
import { openCollections, type CollectionDefinition } from './collections.js';
import './mongo-writes.js';

export type Mongo = ReturnType<typeof createMongo>;

/**
 * A write is acknowledged when a majority of the members has it in its journal, so a failover cannot undo it. After
 * `wtimeoutMS`, the operation fails with an unknown outcome.
 */
const durable = { w: 'majority', journal: true, wtimeoutMS: 10_000 } as const;

/**
 * Connects with the first operation, and again when the server returns. An operation fails after two seconds if no
 * server is reachable, or when its connection has been silent for thirty seconds. The URI sets hosts, replica set, TLS
 * and retries; this file sets the read and write concerns (docs/decisions/0010).
 */
export function createMongo(options: {
  uri: string;
  collections: readonly CollectionDefinition[];
  monitorCommands?: boolean;
}) {
  const common = {
    serverSelectionTimeoutMS: 2000,
    connectTimeoutMS: 2000,
    ignoreUndefined: true,
    appName: 'governed-context-service',
    writeConcern: durable,
  };
  const client = new MongoClient(options.uri, {
    ...common,
    socketTimeoutMS: 30_000,
    monitorCommands: options.monitorCommands ?? false,
  });
  let isClosed = false;
  // After a first connection that failed, the driver keeps the closed topology and would fail all later operations.
  client.on('topologyClosed', () => {
    if (!isClosed) setTimeout(() => void client.connect().catch(() => undefined), 0).unref();
  });
  const name = databaseName(options.uri);
  const db = client.db(name);
  return {
    db,
    collections: openCollections(db, options.collections),
    async ping(): Promise<void> {
      await db.command({ ping: 1 });
    },
    /** Runs work without a time limit, such as an index build, on a separate connection. */
    async withoutTimeLimit<T>(work: (db: Db) => Promise<T>): Promise<T> {
      const patient = new MongoClient(options.uri, { ...common, socketTimeoutMS: 0 });
      return work(patient.db(name)).finally(() => patient.close());
    },
    close(): Promise<void> {
      isClosed = true;
      return client.close();
    },
  };
}

/**
 * Returns the database of the URI. The driver's default is `test`. Hosts and credentials contain no unescaped slash
 * (MongoDB, Connection Strings).
 */
function databaseName(uri: string): string {
  const name = /^[^:]+:\/\/[^/?]*\/([^?]+)/.exec(uri)?.[1];
  return name === undefined ? 'service' : decodeURIComponent(name);
}

/**
 * Detects MongoDB error 11000: a document with this unique key exists, and a failover cannot undo it. MongoDB waits for
 * the write concern also after a duplicate, and a failure of that wait has a different code.
 */
export function isDuplicateKey(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === 11_000;
}

/** Detects an unordered bulk write that failed only because documents with their unique keys exist. */
export function isOnlyDuplicates(error: unknown): boolean {
  return (
    error instanceof MongoBulkWriteError &&
    isDuplicateKey(error) &&
    [error.writeErrors].flat().every(({ code }) => code === 11_000)
  );
}
