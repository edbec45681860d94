import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  uuid4,
} from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import { historyIsFull } from '../history.js';
import type { CatalogRunReference, CatalogSyncActivities } from './activities.js';
import { changedSignal, stateQuery, type CatalogRun, type CatalogSyncInput, type CatalogSyncState } from './messages.js';
import { beginRun, detailsOf, dueAt, initialState, noteChanges } from './state.js';

/** A catalog that fails is tried for as long as it takes, with growing waits; events gather meanwhile. */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' } as const;
const reading = { startToCloseTimeout: '6h', heartbeatTimeout: '15s', retry } as const;

const { syncCatalogTables } = proxyActivities<CatalogSyncActivities>({ ...reading, summary: 'read tables, columns and owners' });
const { syncCatalogLineage } = proxyActivities<CatalogSyncActivities>({ ...reading, summary: 'read lineage' });
const { removeFromCatalog } = proxyActivities<CatalogSyncActivities>({ ...reading, summary: 'remove what the catalog deleted' });
const { recordCatalogRun } = proxyActivities<CatalogSyncActivities>({ startToCloseTimeout: '30s', retry, summary: 'record the run' });

/**
 * Brings a catalog into a project's graph: one run a burst of events, after a quiet window; events during a run make
 * exactly one more. Ends when nothing is pending. Fails with the last run's failure.
 */
export async function catalogSync(input: CatalogSyncInput): Promise<CatalogRun | null> {
  const state = input.resumed ?? initialState();
  setHandler(stateQuery, () => state);
  setHandler(changedSignal, (changes) => {
    noteChanges(state, changes, uuid4(), Date.now());
    setCurrentDetails(detailsOf(state));
  });

  // The signal that started the run is there at once; without one an operator has started it, and wants a sync.
  if (!(await condition(() => state.pending !== null, '1s'))) noteChanges(state, undefined, uuid4(), Date.now());
  while (state.pending) {
    await untilDue(input, state);
    await run(input, state);
    if (state.pending && historyIsFull(input)) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof catalogSync>({ ...input, resumed: state });
    }
  }
  const failure = state.run?.failure;
  if (failure) throw ApplicationFailure.nonRetryable(failure.message, failure.type);
  return state.run;
}

/** Sleeps to the time that is due as far as is known, and looks again: events that came meanwhile cost no timer each. */
async function untilDue(input: CatalogSyncInput, state: CatalogSyncState): Promise<void> {
  while (state.pending) {
    const leftMs = dueAt(input, state.pending) - Date.now();
    if (leftMs <= 0) return;
    await sleep(leftMs, { summary: 'quiet window' });
  }
}

async function run({ project_id, organization_id }: CatalogSyncInput, state: CatalogSyncState): Promise<void> {
  const scope = { project_id, organization_id };
  const current = beginRun(state, Date.now());
  try {
    await read({ scope, run_id: current.run_id }, state, current);
  } catch (error) {
    if (isCancellation(error)) throw error;
    current.failure = failureOf(error, 'sync_failed');
  }
  current.ended_at = Date.now();
  await recordCatalogRun({ scope, run: current });
  setCurrentDetails(detailsOf(state));
}

async function read(reference: CatalogRunReference, state: CatalogSyncState, { counts }: CatalogRun): Promise<void> {
  for (const step of [syncCatalogTables, syncCatalogLineage, removeFromCatalog]) {
    setCurrentDetails(detailsOf(state));
    Object.assign(counts, await step(reference));
  }
}
