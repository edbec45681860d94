import { MongoClient, type Document } from 'mongodb';
import type { SentCommand } from './mongo-wire.js';

/** A primary that is isolated from the other members: its unreplicated writes, and how to undo them. */
interface Replication {
  /** Pending while the primary is isolated, resolved by `heal`; otherwise undefined. */
  readonly isolated: Promise<unknown> | undefined;
  isolate(): void;
  heal(): void;
  /** Saves the documents that a write will change. */
  remember(command: SentCommand): Promise<void>;
  /** The answer of such a primary: a read with majority concern does not see unreplicated writes. */
  told(command: SentCommand, answer: Document): Promise<Document>;
  undo(): Promise<void>;
  close(): Promise<void>;
}

interface Change {
  database: string;
  collection: string;
  _id: unknown;
  /** Null if there was none. */
  before: Document | null;
}

export function isMajorityWrite({ body }: SentCommand): boolean {
  return body.writeConcern?.w === 'majority';
}

export function createReplication(uri: string): Replication {
  const client = new MongoClient(uri, { directConnection: true });
  const changes = new Map<string, Change>();
  let isolated: Promise<unknown> | undefined;
  let heal: () => void = () => undefined;

  const keyOf = ({ body: { $db }, collection }: SentCommand, _id: unknown) => JSON.stringify([$db, collection, _id]);
  const keep = (command: SentCommand, _id: unknown, before: Document | null) => {
    const key = keyOf(command, _id);
    if (!changes.has(key))
      changes.set(key, { database: command.body.$db, collection: command.collection, _id, before });
  };

  return {
    get isolated() {
      return isolated;
    },
    isolate() {
      isolated = new Promise<void>((resolve) => (heal = resolve));
    },
    heal() {
      isolated = undefined;
      heal();
    },
    async remember(command) {
      const { body, collection } = command;
      for (const filter of filtersOf(command)) {
        const found = await client.db(body.$db).collection(collection).find(filter).toArray();
        for (const document of found) keep(command, document._id, document);
      }
      if (command.name === 'insert') for (const { _id } of body.documents as Document[]) keep(command, _id, null);
    },
    async told(command, answer) {
      const upserted = [
        ...(answer.upserted ?? []).map(({ _id }: Document) => _id),
        answer.lastErrorObject?.upserted,
      ].filter((_id) => _id !== undefined);
      for (const _id of upserted) keep(command, _id, null);
      if (command.name !== 'find' || command.body.readConcern?.level !== 'majority') return answer;
      const firstBatch = (answer.cursor.firstBatch as Document[]).flatMap((document) => {
        const change = changes.get(keyOf(command, document._id));
        return change ? (change.before ?? []) : document;
      });
      return { ...answer, cursor: { ...answer.cursor, firstBatch } };
    },
    async undo() {
      for (const { database, collection, _id, before } of changes.values()) {
        const of = client.db(database).collection(collection);
        const one = { _id } as Document;
        await (before === null ? of.deleteOne(one) : of.replaceOne(one, before, { upsert: true }));
      }
      changes.clear();
    },
    close: () => client.close(),
  };
}

function filtersOf({ name, body }: SentCommand): Document[] {
  if (name === 'insert') return [{ _id: { $in: body.documents.map(({ _id }: Document) => _id) } }];
  if (name === 'update') return body.updates.map(({ q }: Document) => q);
  if (name === 'delete') return body.deletes.map(({ q }: Document) => q);
  return name === 'findAndModify' ? [body.query] : [];
}
