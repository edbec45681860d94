import type { ManagedTransaction } from 'neo4j-driver';
import { placeholder } from '../redaction/span.js';
import type { JsonMap } from './values.js';

/*
 * Personal values are stored where queries cannot reach them. The element has a placeholder, so no alias, function,
 * condition or sort order of a query can reveal the value. `Sealed` nodes have no project_id.
 */

export type SealedKind = 'entity' | 'relationship' | 'fact';

export function sealedKey(projectId: string, kind: SealedKind, id: string): string {
  return JSON.stringify([projectId, kind, id]);
}

export interface Parted {
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
export function unseal(shown: JsonMap, values: unknown): JsonMap {
  return typeof values === 'string' ? { ...shown, ...(JSON.parse(values) as JsonMap) } : shown;
}

export async function storeSealed(
  tx: ManagedTransaction,
  rows: readonly { key: string; sealed: JsonMap | null }[],
): Promise<void> {
  const kept = rows.filter(({ sealed }) => sealed).map(({ key, sealed }) => ({ key, values: JSON.stringify(sealed) }));
  const gone = rows.filter(({ sealed }) => !sealed).map(({ key }) => key);
  if (kept.length > 0)
    await tx.run('UNWIND $kept AS row MERGE (s:Sealed {key: row.key}) SET s.values = row.values', { kept });
  if (gone.length > 0) await tx.run('UNWIND $gone AS key MATCH (s:Sealed {key: key}) DELETE s', { gone });
}
