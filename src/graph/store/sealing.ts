import type { ManagedTransaction, Node, Relationship } from 'neo4j-driver';
import { placeholder } from '../redaction/span.js';
import { elementKey, type VectorKind } from '../vectors/elements.js';
import type { JsonMap } from './values.js';

/*
 * Personal values are stored where queries cannot reach them. The element has a placeholder, so no alias, function,
 * condition or sort order of a query can reveal the value. `Sealed` nodes have no project_id.
 */

/** Maps the id of an element to the stored text of its sealed values. */
export type SealedValues = ReadonlyMap<string, string>;

interface Parted {
  shown: JsonMap;
  /** The sealed values. Null if nothing is personal. */
  sealed: JsonMap | null;
}

export function seal(properties: Readonly<JsonMap>, personal: ReadonlySet<string>): Parted {
  const hidden = Object.entries(properties).filter(([name, value]) => personal.has(name) && value !== null);
  if (hidden.length === 0) return { shown: properties, sealed: null };
  const shown = Object.entries(properties).map(
    ([name, value]) => [name, personal.has(name) && value !== null ? placeholder('personal') : value] as const,
  );
  return { shown: Object.fromEntries(shown), sealed: Object.fromEntries(hidden) };
}

/** Reverses {@link seal}. `values` is the stored text of the sealed values. */
export function unseal(shown: JsonMap, values: string | undefined): JsonMap {
  return values === undefined ? shown : { ...shown, ...(JSON.parse(values) as JsonMap) };
}

export function idOf({ properties }: Pick<Node | Relationship, 'properties'>): string {
  return String(properties.id);
}

export async function readSealed(
  tx: ManagedTransaction,
  projectId: string,
  kind: VectorKind,
  ids: readonly string[],
): Promise<SealedValues> {
  if (ids.length === 0) return new Map();
  const { records } = await tx.run(
    'UNWIND $rows AS row MATCH (s:Sealed {key: row.key}) RETURN row.id AS id, s.values AS values',
    { rows: ids.map((id) => ({ id, key: elementKey(projectId, kind, id) })) },
  );
  return new Map(records.map((record) => [record.get('id') as string, record.get('values') as string]));
}

export async function storeSealed(
  tx: ManagedTransaction,
  projectId: string,
  kind: VectorKind,
  elements: readonly { id: string; sealed: JsonMap | null }[],
): Promise<void> {
  const rows = elements.map(({ id, sealed }) => ({ key: elementKey(projectId, kind, id), sealed }));
  const kept = rows.filter(({ sealed }) => sealed).map(({ key, sealed }) => ({ key, values: JSON.stringify(sealed) }));
  const gone = rows.filter(({ sealed }) => !sealed).map(({ key }) => key);
  if (kept.length > 0)
    await tx.run('UNWIND $kept AS row MERGE (s:Sealed {key: row.key}) SET s.values = row.values', { kept });
  if (gone.length > 0) await tx.run('UNWIND $gone AS key MATCH (s:Sealed {key: key}) DELETE s', { gone });
}
