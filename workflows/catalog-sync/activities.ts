import type { CatalogRun, CatalogScope } from './messages.js';

export interface CatalogRunReference {
  scope: CatalogScope;
  run_id: string;
}

interface CatalogSliceRequest extends CatalogRunReference {
  /** Where the previous slice ended; absent in the first one. */
  cursor?: unknown;
}

/** The counts so far. `next` is where the next slice begins; null if the step is done. */
export type CatalogSlice<Counts> = Counts & { next: unknown };

/** The activities of a catalog sync, in slices of about a minute. All are safe to repeat and resume where a killed worker stopped. */
export interface CatalogSyncActivities {
  /** Reads all pages of tables and writes the tables with their columns and owners. */
  syncCatalogTables(
    run: CatalogSliceRequest,
  ): Promise<CatalogSlice<{ tables: number; entities: number; relationships: number }>>;
  /** Reads the lineage of each table that this run has seen. */
  syncCatalogLineage(run: CatalogSliceRequest): Promise<CatalogSlice<{ lineage: number }>>;
  /** Removes from the graph what earlier runs wrote and this run did not see. */
  removeFromCatalog(run: CatalogSliceRequest): Promise<CatalogSlice<{ removed: number }>>;
  /** Stores the run's lifecycle and audit entry. */
  recordCatalogRun(run: { scope: CatalogScope; run: CatalogRun }): Promise<void>;
}
