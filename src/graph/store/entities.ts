import neo4j, { type ManagedTransaction, type Node } from 'neo4j-driver';
import { personalOf, type OntologyDefinition } from '../ontology/definition.js';
import { placeholder } from '../redaction/span.js';
import { indexing, type Analyzer } from '../language/analyzers.js';
import { searchedProperties } from '../language/searched.js';
import { noting } from '../vectors/noting.js';
import { foldedName } from './folded-name.js';
import { mentionProperties } from './mention-properties.js';
import { internalProperties, scopeTerm } from './names.js';
import { idOf, readSealed, seal, storeSealed, unseal, type SealedValues } from './sealing.js';
import { validityIn, validityProperties, type OwnValidity } from './validity.js';
import { fromStored, toStored, type JsonMap } from './values.js';

/** An entity with all properties, including personal ones. For writers and ontology checks only. */
export interface StoredEntity extends OwnValidity {
  id: string;
  type: string;
  name: string;
  properties: JsonMap;
}

const ownProperties = new Set(['id', 'project_id', 'type', 'name']);

export function isOwnProperty(name: string): boolean {
  return ownProperties.has(name) || internalProperties.has(name);
}

/** The number of entities with one name that are read. Two show that the name is ambiguous. */
const maxNamesakes = 10;

/** Reads the existing entities for the ids and for the names, which are compared in folded form. */
export async function readEntities(
  tx: ManagedTransaction,
  projectId: string,
  keys: { ids: readonly string[]; names: readonly { type: string; name: string }[] },
): Promise<{ byId: StoredEntity[]; byName: StoredEntity[] }> {
  const byId = await tx.run('UNWIND $ids AS id MATCH (n:Entity {project_id: $projectId, id: id}) RETURN n', {
    ids: [...keys.ids],
    projectId,
  });
  const byName = await tx.run(
    `UNWIND $names AS row
     CALL (row) {
       MATCH (n:Entity {project_id: $projectId, type: row.type, _folded: row.folded})
       RETURN n ORDER BY n.name <> row.name, n._recorded_at, n.id LIMIT $most
     }
     RETURN DISTINCT n`,
    {
      names: keys.names.map(({ type, name }) => ({ type, name, folded: foldedName(name) })),
      projectId,
      most: neo4j.int(maxNamesakes),
    },
  );
  const nodes = [...byId.records, ...byName.records].map((record) => record.get('n') as Node);
  const sealed = await readSealed(tx, projectId, 'entity', nodes.map(idOf));
  const toEntity = (record: { get(key: string): unknown }) => entityOf(record.get('n') as Node, sealed);
  return { byId: byId.records.map(toEntity), byName: byName.records.map(toEntity) };
}

export function entityOf(node: Node, sealed: SealedValues): StoredEntity {
  const { properties } = node;
  const id = idOf(node);
  const shown = fromStored(properties, isOwnProperty);
  const named = { id, type: String(properties.type), name: String(properties.name) };
  return { ...named, properties: unseal(shown, sealed.get(id)), ...validityIn(properties) };
}

export interface WriteOptions {
  /** The ontology, which marks the properties to seal. Null if nothing was ever sealed. */
  ontology: OntologyDefinition | null;
  /** Whether the worker embeds the written elements. */
  embeds: boolean;
  /**
   * The analyzers to whose full-text indexes the nodes are added. Without them, replaced nodes stay in their indexes.
   */
  analyzers?: readonly Analyzer[];
}

/** Replaces each entity. Omitted properties are removed. */
export async function writeEntities(
  tx: ManagedTransaction,
  projectId: string,
  entities: readonly (StoredEntity & { stamp: Record<string, unknown> })[],
  { ontology, embeds, analyzers = [] }: WriteOptions,
): Promise<void> {
  if (entities.length === 0) return;
  const parted = entities.map((entity) => ({
    entity,
    id: entity.id,
    ...seal(entity.properties, personalOf(ontology, 'entity_types', entity.type)),
  }));
  const rows = parted.map(({ entity, shown }) => ({
    id: entity.id,
    type: entity.type,
    properties: {
      ...toStored(shown),
      ...entity.stamp,
      id: entity.id,
      project_id: projectId,
      type: entity.type,
      name: entity.name,
      ...validityProperties(entity),
      _folded: foldedName(entity.name),
      _scope: scopeTerm(projectId),
      ...searchedProperties(searchText([entity.type, entity.name], shown), entity.name),
      ...mentionProperties(entity.name, shown),
    },
  }));
  await tx.run(
    `UNWIND $rows AS row MERGE (n:Entity {project_id: $projectId, id: row.id})
     SET n = row.properties, n:_Scoped, n:$(row.type)${noting('n', embeds)}${indexing('n', analyzers)}`,
    { rows, projectId },
  );
  // Without an ontology, nothing was ever sealed.
  if (ontology) await storeSealed(tx, projectId, 'entity', parted);
}

const maxSearchLength = 8000;

/** Returns the words of an element for full text, without personal values. */
export function searchText(first: readonly string[], properties: Readonly<JsonMap>): string {
  const words: string[] = [...first];
  const add = (value: unknown): void => {
    if (typeof value === 'string' || typeof value === 'number') words.push(String(value));
    else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) add(each);
  };
  for (const [name, value] of Object.entries(properties)) {
    words.push(name);
    if (value !== placeholder('personal')) add(value);
  }
  return words
    .join(' ')
    .slice(0, maxSearchLength)
    .replace(/\p{Surrogate}/gu, '');
}
