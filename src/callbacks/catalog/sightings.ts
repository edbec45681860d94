/**
 * What the catalog sync wrote, and which run saw it last: what a later run does not see was deleted in the catalog.
 * `_id` is the project, the kind and the id of the graph's element.
 */
export interface CatalogSightingDocument {
  _id: string;
  project_id: string;
  kind: 'entity' | 'relationship';
  element_id: string;
  run_id: string;
  /** The catalog's own id, where the element is a table: what lineage is asked by. */
  table_id: string | null;
  /** Where a relationship goes from and to, and its type. */
  ends: { from: string; type: string; to: string } | null;
}

export function sightingId(projectId: string, kind: CatalogSightingDocument['kind'], elementId: string): string {
  return `${projectId}|${kind}|${elementId}`;
}
