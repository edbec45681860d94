import type {
  CatalogChanges,
  CatalogCounts,
  CatalogProgress,
  CatalogRun,
  CatalogSyncInput,
  CatalogSyncState,
  PendingChanges,
} from './messages.js';

const maxShownEntities = 5;

export function initialState(): CatalogSyncState {
  return { pending: null, run: null, runs: 0 };
}

/** A signal from the Temporal UI may lack any field; it then counts as one event. */
export function addChanges(
  state: CatalogSyncState,
  changes: Partial<CatalogChanges> | undefined,
  fallbackId: string,
  at: number,
): void {
  const { pending } = state;
  const entities = [...new Set([...(pending?.entities ?? []), ...(changes?.entities ?? [])])].slice(
    0,
    maxShownEntities,
  );
  state.pending = {
    run_id: pending?.run_id ?? changes?.run_id ?? fallbackId,
    events: (pending?.events ?? 0) + (changes?.events ?? 1),
    entities,
    first_at: pending?.first_at ?? at,
    last_at: at,
  };
}

/** When the run for the pending changes is due. */
export function dueAt({ quiet_ms, longest_wait_ms }: CatalogSyncInput, { first_at, last_at }: PendingChanges): number {
  return Math.min(last_at + quiet_ms, first_at + longest_wait_ms);
}

export function beginRun(state: CatalogSyncState, at: number): CatalogRun {
  const { run_id, events, first_at } = state.pending ?? { run_id: '', events: 0, first_at: at };
  const counts: CatalogCounts = { tables: 0, entities: 0, relationships: 0, lineage: 0, removed: 0 };
  const run: CatalogRun = {
    run_id,
    events,
    first_event_at: first_at,
    started_at: at,
    ended_at: null,
    counts,
    failure: null,
  };
  state.pending = null;
  state.run = run;
  state.runs += 1;
  return run;
}

const firstWaitMs = 8000;
const maxWaitMs = 5 * 60_000;
const maxFailingMs = 24 * 3600 * 1000;

/** How long to wait after a failure of a step. Undefined after a day of internal errors: the run then ends. */
export function waitAfterFailure(progress: CatalogProgress, type: string, now: number): number | undefined {
  progress.failing_since ??= now;
  progress.failures += 1;
  if (type === 'internal_error' && now - progress.failing_since > maxFailingMs) return undefined;
  return Math.min(firstWaitMs * 2 ** (progress.failures - 1), maxWaitMs);
}

/** The Markdown that the Temporal UI shows as the run's current details. */
export function detailsOf(state: CatalogSyncState): string {
  const { pending, run, runs, progress } = state;
  return [
    ...(pending
      ? [
          `Waiting for quiet: ${pending.events} events so far, including ${pending.entities.join(', ') || 'no named entity'}`,
        ]
      : []),
    ...(run ? [runLine(run, runs)] : []),
    ...(progress?.failure ? [`It is tried again after: ${progress.failure.message}`] : []),
  ].join('\n\n');
}

function runLine({ run_id, events, ended_at, counts, failure }: CatalogRun, runs: number): string {
  const status = ended_at === null ? 'running' : failure ? `failed: ${failure.message}` : 'done';
  const { tables, entities, relationships, lineage, removed } = counts;
  return `Run ${runs} (${run_id}) for ${events} events, ${status}: ${tables} tables, ${entities} entities, ${relationships} relationships, ${lineage} lineage edges, ${removed} removed`;
}
