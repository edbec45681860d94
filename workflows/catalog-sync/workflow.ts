import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { RetryState } from '@temporalio/common';
import { failureOf, requestedWaitMs } from '../failure.js';
import { historyIsFull } from '../history.js';
import { timeOrderedId } from '../time-ordered-id.js';
import type { CatalogSlice, CatalogSyncActivities } from './activities.js';
import {
  changedSignal,
  stateQuery,
  type CatalogProgress,
  type CatalogRun,
  type CatalogSyncInput,
  type CatalogSyncState,
} from './messages.js';
import { beginRun, detailsOf, dueAt, initialState, addChanges, waitAfterFailure } from './state.js';

/**
 * Activities end within minutes, so that the workflow can continue as new while a catalog is down and events accumulate. After
 * the attempts of one activity, a timer waits, longer each time.
 */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '8s', maximumAttempts: 5 } as const;
const reading = { startToCloseTimeout: '5m', heartbeatTimeout: '15s', retry } as const;

const { syncCatalogTables } = proxyActivities<CatalogSyncActivities>({
  ...reading,
  summary: 'read tables, columns and owners',
});
const { syncCatalogLineage } = proxyActivities<CatalogSyncActivities>({ ...reading, summary: 'read lineage' });
const { removeFromCatalog } = proxyActivities<CatalogSyncActivities>({
  ...reading,
  summary: 'remove what the catalog deleted',
});
const { recordCatalogRun } = proxyActivities<CatalogSyncActivities>({
  startToCloseTimeout: '30s',
  retry,
  summary: 'record the run',
});

const steps = [syncCatalogTables, syncCatalogLineage, removeFromCatalog] as const;

/**
 * Writes a catalog into a project's graph: one run for a burst of events, after a quiet period. Events during a run cause
 * exactly one more. Ends when nothing is pending. Fails with the last run's failure.
 */
export async function catalogSync(input: CatalogSyncInput): Promise<CatalogRun | null> {
  const state = input.resumed ?? initialState();
  setHandler(stateQuery, () => state, { description: 'The pending changes and the progress of the sync' });
  const note = (changes: Parameters<typeof addChanges>[1]) => {
    addChanges(state, changes, timeOrderedId(), Date.now());
    setCurrentDetails(detailsOf(state));
  };
  setHandler(changedSignal, note, { description: 'Something in the catalog changed: sync after a quiet period' });

  // The signal that started the run arrives at once. Without one, an operator started the run to get a sync.
  if (!state.progress && !(await condition(() => state.pending !== null, '1s', { summary: 'the first change' })))
    addChanges(state, undefined, timeOrderedId(), Date.now());
  while (state.progress || state.pending) {
    const isReady = state.progress ? true : await isDue(input, state);
    if (isReady) await advance(input, state);
    if ((state.progress || state.pending) && historyIsFull(input)) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof catalogSync>({ ...input, resumed: state });
    }
  }
  const failure = state.run?.failure;
  if (failure) throw ApplicationFailure.nonRetryable(failure.message, failure.type);
  return state.run;
}

/** Waits until the currently known due time, without a new timer for each event. Returns false if the time has to be checked again. */
async function isDue(input: CatalogSyncInput, { pending }: CatalogSyncState): Promise<boolean> {
  const leftMs = pending ? dueAt(input, pending) - Date.now() : 0;
  if (leftMs <= 0) return true;
  await condition(() => historyIsFull(input), leftMs, { summary: 'quiet window' });
  return false;
}

/** Advances a run by one attempt: begins it, reads a slice, or records its outcome. */
async function advance(input: CatalogSyncInput, state: CatalogSyncState): Promise<void> {
  const current = state.progress && state.run ? state.run : beginRun(state, Date.now());
  const progress = (state.progress ??= { step: 0, cursor: undefined, failing_since: null, failures: 0 });
  setCurrentDetails(detailsOf(state));
  try {
    await work(input, state, current, progress);
    Object.assign(progress, { failing_since: null, failures: 0, failure: null });
  } catch (error) {
    if (isCancellation(error)) throw error;
    await waitAfterError(input, state, current, progress, error);
  }
  setCurrentDetails(detailsOf(state));
}

async function work(
  { project_id, organization_id }: CatalogSyncInput,
  state: CatalogSyncState,
  run: CatalogRun,
  progress: CatalogProgress,
): Promise<void> {
  const scope = { project_id, organization_id };
  const step = run.failure ? undefined : steps[progress.step];
  if (!step) {
    run.ended_at ??= Date.now();
    await recordCatalogRun({ scope, run });
    state.progress = null;
    return;
  }
  const { next = null, ...counts } = (await step({
    scope,
    run_id: run.run_id,
    cursor: progress.cursor,
  })) as CatalogSlice<Partial<CatalogRun['counts']>>;
  Object.assign(run.counts, counts);
  Object.assign(progress, next === null ? { step: progress.step + 1, cursor: undefined } : { cursor: next });
}

/** Waits before the next attempt. A refusal ends the run, and so do internal errors for a day. */
async function waitAfterError(
  input: CatalogSyncInput,
  state: CatalogSyncState,
  run: CatalogRun,
  progress: CatalogProgress,
  error: unknown,
): Promise<void> {
  const failure = failureOf(error, 'sync_failed');
  const isRefused = !(error instanceof ActivityFailure) || error.retryState === RetryState.NON_RETRYABLE_FAILURE;
  const waitMs = isRefused ? undefined : waitAfterFailure(progress, failure.type, Date.now());
  if (waitMs !== undefined) {
    progress.failure = failure;
    setCurrentDetails(detailsOf(state));
    await condition(() => historyIsFull(input), Math.max(waitMs, requestedWaitMs(error)), {
      summary: 'wait for the catalog',
    });
    return;
  }
  // The record itself could not be written.
  if (run.ended_at !== null) state.progress = null;
  run.failure = failure;
}
