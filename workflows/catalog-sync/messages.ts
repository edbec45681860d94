import { defineQuery, defineSignal } from '@temporalio/workflow';

/** What clients and operators use to work with a `catalogSync` (design, Workflows). */
export const catalogSyncType = 'catalogSync';

export function catalogSyncWorkflowId(scope: string): string {
  return `catalog-sync/${scope}`;
}

/** The graph that a catalog is written to. */
export interface CatalogScope {
  project_id: string;
  organization_id: string;
}

export interface CatalogSyncInput extends CatalogScope {
  /** A run begins after this long without an event. */
  quiet_ms: number;
  /** A run begins at the latest this long after its first event. */
  longest_wait_ms: number;
  /** The run continues as new when its history has this many events, or when the server suggests it. */
  max_history_events: number;
  resumed?: CatalogSyncState;
}

/** The content of one signal: the changes of one or more deliveries. */
export interface CatalogChanges {
  /** The lifecycle of the run that these changes start, unless earlier changes are already waiting. */
  run_id: string;
  events: number;
  /** Names of a few of the changed entities, shown to operators. */
  entities: string[];
}

/** Times are epoch milliseconds. */
export interface PendingChanges extends CatalogChanges {
  first_at: number;
  last_at: number;
}

export interface CatalogCounts {
  tables: number;
  entities: number;
  relationships: number;
  lineage: number;
  removed: number;
}

export interface CatalogRun {
  run_id: string;
  events: number;
  /** When its first event arrived. */
  first_event_at: number;
  started_at: number;
  ended_at: number | null;
  counts: CatalogCounts;
  failure: { type: string; message: string } | null;
}

/** Where a run continues: the step, and the position in it. */
export interface CatalogProgress {
  step: number;
  cursor: unknown;
  /** When the step began to fail, in epoch milliseconds, and how often it has failed. */
  failing_since: number | null;
  failures: number;
  failure?: { type: string; message: string } | null;
}

/** Plain JSON and complete: it is passed to the next run by continue-as-new, and the query returns it. */
export interface CatalogSyncState {
  /** Null or absent if no run is in progress. */
  progress?: CatalogProgress | null;
  pending: PendingChanges | null;
  run: CatalogRun | null;
  runs: number;
}

export const changedSignal = defineSignal<[CatalogChanges]>('changed');
export const stateQuery = defineQuery<CatalogSyncState>('state');
