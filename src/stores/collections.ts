import type { Collection, CreateIndexesOptions, Db, IndexSpecification } from 'mongodb';

/**
 * Maps each collection to the type of its documents. Each record adds its entry next to its `defineCollection`
 * (TypeScript declaration merging), so this file imports nothing from the product.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface Documents {}

export type Collections = { [Name in keyof Documents]: Collection<Documents[Name]> };

export interface Index {
  keys: IndexSpecification;
  options?: CreateIndexesOptions;
}

export interface CollectionDefinition {
  name: keyof Documents;
  indexes: readonly Index[];
  majorityRead: boolean;
}

/** Makes the server delete a document shortly after its `expires_at`. */
export const expiring: Index = { keys: { expires_at: 1 }, options: { expireAfterSeconds: 0 } };

interface CollectionOptions {
  /** Frequent reads look up by `_id`. Indexes serve lists and uniqueness. */
  indexes?: readonly Index[];
  /**
   * Reads with majority concern. Needed for credentials, reservations, and what a process caches of the audit chain and
   * the policies: a failover must not undo a record that a decision relies on (docs/decisions/0010).
   */
  majorityRead?: boolean;
}

/** Defines a collection and its indexes. `src/collections.ts` lists all definitions. */
export function defineCollection(
  name: keyof Documents,
  { indexes = [], majorityRead = false }: CollectionOptions,
): CollectionDefinition {
  return { name, indexes, majorityRead };
}

export function openCollections(db: Db, definitions: readonly CollectionDefinition[]): Collections {
  const open = ({ name, majorityRead }: CollectionDefinition) =>
    db.collection(name, majorityRead ? { readConcern: { level: 'majority' } } : {});
  return Object.fromEntries(
    definitions.map((definition) => [definition.name, open(definition)]),
  ) as unknown as Collections;
}

/** Builds the unique indexes, which correctness depends on. The other indexes only improve speed. */
export function buildUniqueIndexes(definitions: readonly CollectionDefinition[]) {
  return (db: Db): Promise<void> => build(db, definitions, ({ options }) => options?.unique === true);
}

export function buildOtherIndexes(definitions: readonly CollectionDefinition[]) {
  return (db: Db): Promise<void> => build(db, definitions, ({ options }) => options?.unique !== true);
}

async function build(
  db: Db,
  definitions: readonly CollectionDefinition[],
  chosen: (index: Index) => boolean,
): Promise<void> {
  for (const { name, indexes } of definitions) {
    for (const { keys, options } of indexes.filter(chosen)) await db.collection(name).createIndex(keys, options ?? {});
  }
}
