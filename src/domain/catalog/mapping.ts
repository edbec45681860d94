import type { SaveInput } from '../../graph/save/input.js';
import { derivedId, TypeName } from '../../graph/store/names.js';
import { graphName, graphText } from '../../graph/graph-text.js';
import type { CatalogLineage, CatalogReference, CatalogTable } from './client.js';

type Entity = SaveInput['entities'][number] & { id: string };
interface Edge {
  from: string;
  type: string;
  to: string;
}

export interface Elements {
  entities: Entity[];
  relationships: Edge[];
  /** The catalog id of each table entity; null for an id that cannot be part of a URL path. */
  tableIds: Map<string, string | null>;
}

const maxTextLength = 8000;

/** Converts tables with their columns, owners and tags to entities and relationships. */
export function elementsOf(tables: readonly CatalogTable[]): Elements {
  const entities = new Map<string, Entity>();
  const relationships: Edge[] = [];
  const tableIds = new Map<string, string | null>();
  for (const table of tables) {
    const id = entityId('table', table.id);
    tableIds.set(id, fitsUrlPath(table.id) ? table.id : null);
    entities.set(id, tableEntity(id, table));
    for (const column of table.columns ?? []) {
      const columnId = entityId('column', derivedId(table.id, column.fullyQualifiedName ?? column.name));
      const properties = texts({
        data_type: column.dataType,
        description: column.description,
        fully_qualified_name: column.fullyQualifiedName,
      });
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

/**
 * Converts the edges whose two ends are known, and the ends that are not tables. Tables are known from their own pages.
 */
export function lineageOf(
  { nodes, upstreamEdges, downstreamEdges }: CatalogLineage,
  isKnownTable: (entityId: string) => boolean,
): Elements {
  const present = (nodes ?? []).filter(({ deleted }) => deleted !== true);
  const byId = new Map(present.map((node) => [node.id, referenceEntity(node)]));
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

/** The graph ids of all tables in a lineage. */
export function tablesIn({ upstreamEdges, downstreamEdges }: CatalogLineage): string[] {
  return [...(upstreamEdges ?? []), ...(downstreamEdges ?? [])].flatMap(({ fromEntity, toEntity }) => [
    entityId('table', fromEntity),
    entityId('table', toEntity),
  ]);
}

/**
 * Whether an id can be part of a URL path. Servers reject long paths, and dots refer to another folder, so a request
 * for the lineage would never succeed.
 */
function fitsUrlPath(id: string): boolean {
  return id.length <= 256 && !/^\.{0,2}$/.test(id);
}

function tableEntity(id: string, table: CatalogTable): Entity {
  const { description, tableType, fullyQualifiedName, tags } = table;
  // Null removes a text that the catalog has removed.
  const properties = texts({
    description: description ?? null,
    table_type: tableType,
    fully_qualified_name: fullyQualifiedName,
  });
  const names = (tags ?? []).map(({ tagFQN }) => graphText(tagFQN, 200)).slice(0, 100);
  return {
    id,
    type: 'Table',
    name: graphName(fullyQualifiedName ?? table.name),
    properties: { ...properties, tags: names.length > 0 ? names : null },
  };
}

function referenceEntity({ id, type, name, displayName, fullyQualifiedName }: CatalogReference): Entity {
  const letters = type.replace(/[^A-Za-z0-9]/g, '') || 'unknown';
  const kind = letters[0]?.toUpperCase() + letters.slice(1, 100);
  return {
    id: entityId(letters.toLowerCase().slice(0, 50), id),
    // The graph reserves some type names, such as Fact.
    type: TypeName.safeParse(kind).success ? kind : `Catalog${kind}`,
    name: graphName(displayName ?? fullyQualifiedName ?? name ?? id),
    properties: texts({ fully_qualified_name: fullyQualifiedName }),
  };
}

function entityId(kind: string, id: string): string {
  const plain = `catalog:${kind}:${id}`;
  return /^[\w:.-]{1,200}$/.test(plain) ? plain : `catalog:${kind}:${derivedId(id)}`;
}

function texts(values: Record<string, string | null | undefined>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value == null || value === '' ? null : graphText(value, maxTextLength),
    ]),
  );
}
