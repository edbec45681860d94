import { MongoBulkWriteError, MongoClient, MongoServerError, type Collection, type Db, type OptionalUnlessRequiredId } from 'mongodb';
import { collectionsOf, ensureIndexes, type Collections } from './collections.js';
import './mongo-writes.js';

export interface Mongo {
  db: Db;
  collections: Collections;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A lazy connection: the driver connects with the first operation and again whenever the server comes back.
 * An operation ends within two seconds where no server can be reached, and when a connection has been silent for thirty. Hosts,
 * replica set, TLS, write concern and retries are the URI's.
 */
export function createMongo(options: { uri: string; monitorCommands?: boolean }): Mongo {
  const client = new MongoClient(options.uri, {
    serverSelectionTimeoutMS: 2000,
    connectTimeoutMS: 2000,
    socketTimeoutMS: 30_000,
    ignoreUndefined: true,
    appName: 'governed-context-service',
    monitorCommands: options.monitorCommands ?? false,
  });
  const db = client.db(databaseName(options.uri));
  return {
    db,
    collections: collectionsOf(db),
    async ping() {
      await db.command({ ping: 1 });
    },
    close: () => client.close(),
  };
}

/** The driver's own default would be `test`. Neither hosts nor credentials hold a bare slash (MongoDB, Connection Strings). */
function databaseName(uri: string): string {
  const name = /^[^:]+:\/\/[^/?]*\/([^?]+)/.exec(uri)?.[1];
  return name === undefined ? 'service' : decodeURIComponent(name);
}

export async function prepareMongo(mongo: Mongo): Promise<void> {
  await ensureIndexes(mongo.db);
}

/** What was acknowledged survives the loss of a member and of its memory. */
export const durable = { w: 'majority', journal: true } as const;

/** MongoDB error 11000: a document with this unique key is there already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11_000;
}

/** Whether an unordered write of many has failed for nothing but documents that are there already. */
export function isOnlyDuplicates(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError)) return false;
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
  // A connection that broke has no errors of single documents.
  return failures.length > 0 && failures.every(({ code }) => code === 11_000);
}

/** Inserts a record; when one with its `_id` is there already, a repeat after a crash, answers that one. */
export async function insertOnce<T extends { _id: string }>(collection: Collection<T>, record: T): Promise<T> {
  try {
    await collection.insertOne(record as OptionalUnlessRequiredId<T>);
    return record;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const present = await collection.findOne({ _id: record._id } as never);
    if (!present) throw error;
    return present as T;
  }
}
