import { defineQuery, defineSignal } from '@temporalio/workflow';

/** What a client or an operator needs to talk to a `catalogSync` (design, Workflows). */
export const catalogSyncType = 'catalogSync';

export function catalogSyncWorkflowId(scope: string): string {
  return `catalog-sync/${scope}`;
}

/** The graph that a catalog is brought into. */
export interface CatalogScope {
  project_id: string;
  organization_id: string;
}

export interface CatalogSyncInput extends CatalogScope {
  /** How long no event may come before a run begins; each event begins it anew. */
  quiet_ms: number;
  /** A run begins this long after its first event at the latest. */
  longest_wait_ms: number;
  /** Continue as new when the history holds so many events; the server's own suggestion counts as well. */
  max_history_events: number;
  resumed?: CatalogSyncState;
}

/** What one signal tells: the changes of one or more deliveries. */
export interface CatalogChanges {
  /** The lifecycle of the run that these changes start, unless earlier ones wait already. */
  run_id: string;
  events: number;
  /** Names of a few of the changed entities, for the operator's eyes. */
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
  /** When the first of its events came; runs that an older worker began have none. */
  first_event_at?: number;
  started_at: number;
  ended_at: number | null;
  counts: CatalogCounts;
  failure: { type: string; message: string } | null;
}

/** Plain JSON and complete: it is carried over continue-as-new and is what the query answers. */
export interface CatalogSyncState {
  pending: PendingChanges | null;
  run: CatalogRun | null;
  runs: number;
}

export const changedSignal = defineSignal<[CatalogChanges]>('changed');
export const stateQuery = defineQuery<CatalogSyncState>('state');
