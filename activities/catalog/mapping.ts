import type { SaveInput } from '../../src/graph/save/input.js';
import { derivedId } from '../../src/graph/store/names.js';
import { graphName, graphText } from '../graph-text.js';
import type { CatalogLineage, CatalogReference, CatalogTable } from './client.js';

export type Entity = SaveInput['entities'][number] & { id: string };
export interface Edge {
  from: string;
  type: string;
  to: string;
}

export interface Elements {
  entities: Entity[];
  relationships: Edge[];
  /** The catalog's id of each entity that is a table. */
  tableIds: Map<string, string>;
}

const textAtMost = 8000;

/** Tables with their columns, owners and tags, as entities and relationships. */
export function elementsOf(tables: readonly CatalogTable[]): Elements {
  const entities = new Map<string, Entity>();
  const relationships: Edge[] = [];
  const tableIds = new Map<string, string>();
  for (const table of tables) {
    const id = entityId('table', table.id);
    tableIds.set(id, table.id);
    entities.set(id, tableEntity(id, table));
    for (const column of table.columns ?? []) {
      const columnId = entityId('column', derivedId(table.id, column.fullyQualifiedName ?? column.name));
      const properties = texts({ data_type: column.dataType, description: column.description, fully_qualified_name: column.fullyQualifiedName });
      entities.set(columnId, { id: columnId, type: 'Column', name: graphName(column.name), properties });
      relationships.push({ from: id, type: 'HAS_COLUMN', to: columnId });
    }
    for (const owner of table.owners ?? []) {
      const entity = referenceEntity(owner);
      entities.set(entity.id, entity);
      relationships.push({ from: id, type: 'OWNED_BY', to: entity.id });
    }
  }
  return { entities: [...entities.values()], relationships, tableIds };
}

/** Edges whose two ends are told of, with the ends that are no tables: those are known from the tables' own pages. */
export function lineageOf({ nodes, upstreamEdges, downstreamEdges }: CatalogLineage, isKnownTable: (entityId: string) => boolean): Elements {
  const living = (nodes ?? []).filter(({ deleted }) => deleted !== true);
  const byId = new Map(living.map((node) => [node.id, referenceEntity(node)]));
  const endOf = (id: string) => {
    const table = entityId('table', id);
    if (isKnownTable(table)) return table;
    const node = byId.get(id);
    return node && node.type !== 'Table' ? node.id : undefined;
  };
  const relationships = [...(upstreamEdges ?? []), ...(downstreamEdges ?? [])].flatMap(({ fromEntity, toEntity }) => {
    const [from, to] = [endOf(fromEntity), endOf(toEntity)];
    return from !== undefined && to !== undefined && from !== to ? [{ from, type: 'FEEDS', to }] : [];
  });
  const used = new Set(relationships.flatMap(({ from, to }) => [from, to]));
  const entities = [...byId.values()].filter(({ id, type }) => type !== 'Table' && used.has(id));
  return { entities, relationships, tableIds: new Map() };
}

/** The graph's ids of every table that a lineage names. */
export function tablesIn({ upstreamEdges, downstreamEdges }: CatalogLineage): string[] {
  return [...(upstreamEdges ?? []), ...(downstreamEdges ?? [])].flatMap(({ fromEntity, toEntity }) => [entityId('table', fromEntity), entityId('table', toEntity)]);
}

function tableEntity(id: string, table: CatalogTable): Entity {
  const { description, tableType, fullyQualifiedName, tags } = table;
  // An empty text takes away what the catalog has taken away.
  const properties = texts({ description: description ?? null, table_type: tableType, fully_qualified_name: fullyQualifiedName });
  const names = (tags ?? []).map(({ tagFQN }) => graphText(tagFQN, 200)).slice(0, 100);
  return { id, type: 'Table', name: graphName(fullyQualifiedName ?? table.name), properties: { ...properties, tags: names.length > 0 ? names : null } };
}

function referenceEntity({ id, type, name, displayName, fullyQualifiedName }: CatalogReference): Entity {
  const letters = type.replace(/[^A-Za-z0-9]/g, '') || 'unknown';
  const kind = letters[0]?.toUpperCase() + letters.slice(1, 100);
  return {
    id: entityId(letters.toLowerCase().slice(0, 50), id),
    type: /^[A-Za-z]/.test(kind) ? kind : `Catalog${kind}`,
    name: graphName(displayName ?? fullyQualifiedName ?? name ?? id),
    properties: texts({ fully_qualified_name: fullyQualifiedName }),
  };
}

function entityId(kind: string, id: string): string {
  const plain = `catalog:${kind}:${id}`;
  return /^[\w:.-]{1,200}$/.test(plain) ? plain : `catalog:${kind}:${derivedId(id)}`;
}

function texts(values: Record<string, string | null | undefined>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value == null || value === '' ? null : graphText(value, textAtMost)]));
}
