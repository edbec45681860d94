import type { ManagedTransaction } from 'neo4j-driver';
import { checkEntity } from '../ontology/check.js';
import type { OntologyDefinition } from '../ontology/definition.js';
import { readEntities, type StoredEntity } from '../store/entities.js';
import { bestIds } from '../save/entity-names.js';
import { foldedKey, foldedName } from '../store/folded-name.js';
import type { JsonMap } from '../store/values.js';
import type { Mention, MentionedEntity } from './part.js';

/** A mention and the entity that it refers to. A mention without `known` and without `same` is a new entity. */
export interface Resolved {
  mention: MentionedEntity;
  /** The existing entity in the graph. */
  known: StoredEntity | undefined;
  /** Whether an earlier part of the same memory created the entity. */
  isOwn: boolean;
  /** The new entity of this part, if an earlier mention already refers to it. */
  same: Resolved | undefined;
  /** The properties to write: those that match the ontology and that a known entity does not have. */
  properties: JsonMap;
  /**
   * Whether this is a new entity that cannot match the ontology, for example because the text lacks a required
   * property, or whether several known entities have its name.
   */
  isDropped: boolean;
  isAmbiguous: boolean;
}

/** Returns the same key for names that differ only in case, spacing, invisible characters or Unicode form. */
export function aliasKey(projectId: string, type: string, name: string): string {
  return JSON.stringify([projectId, type, foldedName(name)]);
}

/**
 * Finds the entity of each mention within its type: by name, then by this name as an alias, then by one of the
 * mention's aliases as name or alias. Call only under the lock of the project.
 */
export async function resolve(
  tx: ManagedTransaction,
  { projectId, memoryId }: { projectId: string; memoryId: string },
  mentions: readonly MentionedEntity[],
  definitions: readonly (OntologyDefinition | null)[],
): Promise<Resolved[]> {
  const named = mentions.flatMap((mention) => namesOf(mention).map((name) => ({ type: mention.type, name })));
  const { byName } = await readEntities(tx, projectId, { ids: [], names: named });
  const aliases = await readAliases(tx, projectId, named);
  const namesakes = new Map<string, StoredEntity[]>();
  for (const entity of byName) namesakes.set(foldedKey(entity), [...(namesakes.get(foldedKey(entity)) ?? []), entity]);
  const found = mentions.map((mention) => knownEntity(projectId, mention, namesakes, aliases));
  const own = await ownIds(
    tx,
    projectId,
    memoryId,
    found.flatMap(({ known }) => known?.id ?? []),
  );
  const fresh = new Map<string, Resolved>();
  return mentions.map((mention, at) => {
    const { known, isAmbiguous = false } = found[at] ?? {};
    const keys = namesOf(mention).map((name) => aliasKey(projectId, mention.type, name));
    const isNew = !known && !isAmbiguous;
    const same = isNew ? keys.map((key) => fresh.get(key)).find((each) => each !== undefined) : undefined;
    const fitting = isAmbiguous ? { properties: {}, isDropped: true } : fit(mention, known, definitions);
    const isOwn = known !== undefined && own.has(known.id);
    const resolved: Resolved = { mention, known, same, isOwn, isAmbiguous, ...fitting };
    if (isNew && !same && !resolved.isDropped) for (const key of keys) fresh.set(key, resolved);
    return resolved;
  });
}

/** Tries the names of a mention in order. A name of several entities decides only if it is an alias of one of them. */
function knownEntity(
  projectId: string,
  mention: MentionedEntity,
  namesakes: ReadonlyMap<string, StoredEntity[]>,
  aliases: ReadonlyMap<string, StoredEntity>,
): { known?: StoredEntity; isAmbiguous?: boolean } {
  for (const name of namesOf(mention)) {
    const stored = namesakes.get(foldedKey({ type: mention.type, name })) ?? [];
    const [id, ...others] = bestIds(name, stored);
    const only = others.length === 0 ? stored.find((each) => each.id === id) : undefined;
    const alias = aliases.get(aliasKey(projectId, mention.type, name));
    const known = only ?? alias;
    if (known) return { known };
    if (others.length > 0) return { isAmbiguous: true };
  }
  return {};
}

function namesOf({ name, aliases }: Pick<MentionedEntity, 'name' | 'aliases'>): string[] {
  return [name, ...aliases];
}

async function readAliases(
  tx: ManagedTransaction,
  projectId: string,
  named: readonly Mention[],
): Promise<ReadonlyMap<string, StoredEntity>> {
  const keys = [...new Set(named.map(({ type, name }) => aliasKey(projectId, type, name)))];
  const { records } = await tx.run(
    'UNWIND $keys AS key MATCH (a:EntityAlias {key: key}) RETURN key, a.entity_id AS id',
    { keys },
  );
  const ids = new Map(records.map((record) => [record.get('key') as string, record.get('id') as string]));
  const { byId } = await readEntities(tx, projectId, { ids: [...new Set(ids.values())], names: [] });
  const entities = new Map(byId.map((entity) => [entity.id, entity]));
  return new Map(
    [...ids].flatMap(([key, id]) => {
      const entity = entities.get(id);
      return entity ? [[key, entity] as const] : [];
    }),
  );
}

/** Returns which of these entities this memory wrote last. */
async function ownIds(
  tx: ManagedTransaction,
  projectId: string,
  memoryId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { records } = await tx.run(
    `UNWIND $ids AS id MATCH (n:Entity {project_id: $projectId, id: id}) WHERE n._memory_id = $memoryId
     AND NOT EXISTS { MATCH (:EntityMerge {key: $prefix + id}) } RETURN id`,
    { ids: [...ids], projectId, memoryId, prefix: mergeKey(projectId, memoryId, '') },
  );
  return new Set(records.map((record) => record.get('id') as string));
}

/** Returns the key of a merge, which begins with its project and memory and ends with the entity. */
export function mergeKey(projectId: string, memoryId: string, entityId: string): string {
  return `${projectId}/${memoryId}/${entityId}`;
}

function fit(
  { type, properties: mentioned }: MentionedEntity,
  known: StoredEntity | undefined,
  definitions: readonly (OntologyDefinition | null)[],
): Pick<Resolved, 'properties' | 'isDropped'> {
  const missing = Object.entries(mentioned).filter(([name]) => !known || !Object.hasOwn(known.properties, name));
  const problemsOf = (properties: JsonMap) =>
    definitions.flatMap((definition) =>
      checkEntity(definition, { type, properties: { ...known?.properties, ...properties } }),
    );
  const wrong = new Set(problemsOf(Object.fromEntries(missing)).map(({ place }) => place));
  const properties = Object.fromEntries(missing.filter(([name]) => !wrong.has(`properties.${name}`)));
  if (problemsOf(properties).length === 0) return { properties, isDropped: false };
  return { properties: {}, isDropped: !known };
}
