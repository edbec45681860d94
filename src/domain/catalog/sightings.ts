import { defineCollection } from '../../stores/collections.js';

/**
 * An element that the catalog sync wrote to the graph, and the last run that found it in the catalog. If a later run does
 * not find it, it was deleted in the catalog. `_id` is `<project id>|<kind>|<element id>`.
 */
export interface CatalogSightingDocument {
  _id: string;
  project_id: string;
  kind: 'entity' | 'relationship';
  element_id: string;
  run_id: string;
  /** For a table, its id in the catalog, which lineage queries need. */
  table_id: string | null;
  /** For a relationship, its type and the entities it connects. */
  ends: { from: string; type: string; to: string } | null;
}

export function sightingId(projectId: string, kind: CatalogSightingDocument['kind'], elementId: string): string {
  return `${projectId}|${kind}|${elementId}`;
}

export const catalogSightingsCollection = defineCollection('catalog_sightings', {
  indexes: [{ keys: { project_id: 1, run_id: 1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    catalog_sightings: CatalogSightingDocument;
  }
}
