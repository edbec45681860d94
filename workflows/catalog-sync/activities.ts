import type { CatalogRun, CatalogScope } from './messages.js';

export interface CatalogRunReference {
  scope: CatalogScope;
  run_id: string;
}

/** The outside of a catalog sync. Each goes on where a killed worker left it, and may be repeated. */
export interface CatalogSyncActivities {
  /** Pages through the tables and writes them with columns and owners. */
  syncCatalogTables(run: CatalogRunReference): Promise<{ tables: number; entities: number; relationships: number }>;
  /** Reads the lineage of each table that this run has seen. */
  syncCatalogLineage(run: CatalogRunReference): Promise<{ lineage: number }>;
  /** Takes out of the graph what the sync wrote before and this run has not seen. */
  removeFromCatalog(run: CatalogRunReference): Promise<{ removed: number }>;
  /** Stores the run's lifecycle and audit entry. */
  recordCatalogRun(run: { scope: CatalogScope; run: CatalogRun }): Promise<void>;
}
