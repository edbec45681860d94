import { randomBytes } from 'node:crypto';
import { EJSON } from 'bson';
import { MongoClient, type Db, type Document } from 'mongodb';
import type { Index } from '../../src/stores/collections.js';
import { sha256Hex } from '../../src/base/hash.js';
import { newId } from '../../src/base/ids.js';
import type { SentCommand } from './mongo-wire.js';

/** UUIDs and SHA-256 digests. */
const id = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{64}\b/g;
const batchSize = 2_000;

/** A read that looks at the documents at which a command looks. */
export interface Find {
  find: string;
  filter: Document;
  sort?: Document;
  limit?: number;
}

/** One read for each filter of a command; none for a command without a filter. */
export function findsOf({ name, collection: find, body }: SentCommand): Find[] {
  const { filter = {}, query = {}, sort, limit } = body;
  switch (name) {
    case 'find':
      return [{ find, filter, ...(sort && { sort }), ...(limit && { limit: Math.abs(Number(limit)) }) }];
    case 'findAndModify':
      return [{ find, filter: query, ...(sort && { sort }), limit: 1 }];
    case 'update':
      return body.updates.map(({ q }: Document) => ({ find, filter: q }));
    case 'delete':
      return body.deletes.map(({ q }: Document) => ({ find, filter: q }));
    case 'count':
    case 'distinct':
      return [{ find, filter: query }];
    case 'aggregate':
      return body.pipeline[0]?.$match ? [{ find, filter: body.pipeline[0].$match }] : [];
    default:
      return [];
  }
}

/** A database of its own on the server of `uri`, with a server's own account of a read. */
export async function useScratchDatabase(uri: string) {
  const client = new MongoClient(uri);
  const db = client.db(`scratch_${randomBytes(4).toString('hex')}`);
  return {
    db,
    /** How many documents the server looks at beyond those that it returns. */
    async wasted(find: Find): Promise<number> {
      const { executionStats } = await db.command({ explain: find, verbosity: 'executionStats' });
      return executionStats.totalDocsExamined - executionStats.nReturned;
    },
    async close(): Promise<void> {
      await db.dropDatabase();
      await client.close();
    },
  };
}

/** Stores `documents`, and `count` copies of them that belong to others: each id of a copy is a new one. */
export async function fill(
  db: Db,
  name: string,
  indexes: readonly Index[],
  documents: Document[],
  count: number,
): Promise<void> {
  for (const { keys, options } of indexes) await db.collection(name).createIndex(keys, options ?? {});
  const [template = ''] = documents.map((document) => EJSON.stringify(document, { relaxed: false }));
  if (documents.length > 0) await db.collection(name).insertMany(documents);
  for (let made = 0; made < count; made += batchSize) {
    const copies = Array.from({ length: Math.min(batchSize, count - made) }, () => copyOf(template));
    await db.collection(name).insertMany(copies, { ordered: false });
  }
}

function copyOf(template: string): Document {
  const renamed = new Map<string, string>();
  const rename = (found: string): string => {
    const other = renamed.get(found) ?? (found.includes('-') ? newId() : sha256Hex(newId()));
    renamed.set(found, other);
    return other;
  };
  return EJSON.parse(template.replace(id, rename), { relaxed: false });
}
