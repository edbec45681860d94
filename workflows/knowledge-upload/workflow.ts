import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import { epochSeconds } from '../time.js';
import type { KnowledgeUploadActivities } from './activities.js';
import { removeSignal, stateQuery, type KnowledgeUploadInput, type KnowledgeUploadResult, type KnowledgeUploadState } from './messages.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
/** Removal waits until a batch that is under way has ended, so that it misses no chunk. */
const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;
const { extractChunks } = proxyActivities<KnowledgeUploadActivities>({
  startToCloseTimeout: '30m',
  heartbeatTimeout: '15s',
  cancellationType,
  // Whatever is wrong with a document is wrong again; the rest are passing faults.
  retry,
  summary: 'read the text',
});
const { saveChunks } = proxyActivities<KnowledgeUploadActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '15s',
  cancellationType,
  retry,
  summary: 'write chunks into the graph',
});
const { finishKnowledge, removeKnowledge } = proxyActivities<KnowledgeUploadActivities>({
  startToCloseTimeout: '30m',
  heartbeatTimeout: '15s',
  retry,
  summary: 'record how it ended',
});

/**
 * Brings one document into the graph of its project, and takes it out again when it is asked to `remove`.
 * Fails with the reason for which a document cannot be read; a cancelled one counts as failed.
 */
export async function knowledgeUpload(upload: KnowledgeUploadInput): Promise<KnowledgeUploadResult> {
  const state: KnowledgeUploadState = { total: null, done: 0, removing: false };
  const started_at = epochSeconds();
  const work = new CancellationScope();
  setHandler(stateQuery, () => state);
  setHandler(removeSignal, () => {
    state.removing = true;
    work.cancel();
  });

  const laid = { total: 0, batches: 0 };
  let failure: ApplicationFailure | null = null;
  try {
    if (!state.removing) await work.run(() => bring(upload, state, laid));
  } catch (error) {
    failure = endOf(error);
  }
  await CancellationScope.nonCancellable(async () => {
    if (!state.removing) await finishKnowledge({ upload, started_at, ...laid, failure: failure?.message ?? null });
    if (state.removing) await removeKnowledge(upload);
  });
  setCurrentDetails(detailsOf(upload, state));
  if (failure && !state.removing) throw failure;
  return { chunks: state.removing ? 0 : state.done, removed: state.removing };
}

async function bring(upload: KnowledgeUploadInput, state: KnowledgeUploadState, laid: { total: number; batches: number }): Promise<void> {
  setCurrentDetails(detailsOf(upload, state));
  Object.assign(laid, await extractChunks(upload));
  state.total = laid.total;
  for (let batch = 0; batch < laid.batches; batch += 1) {
    setCurrentDetails(detailsOf(upload, state));
    const { saved } = await saveChunks({ upload, batch, before: state.done });
    state.done += saved;
  }
}

/** The Markdown that the Temporal UI shows as the run's current details. */
function detailsOf({ name }: KnowledgeUploadInput, { total, done, removing }: KnowledgeUploadState): string {
  const title = `Document \`${name.replaceAll('`', "'")}\``;
  if (removing) return `${title}: removed`;
  return total === null ? `${title}: reading its text` : `${title}: ${done} of ${total} chunks`;
}

function endOf(error: unknown): ApplicationFailure {
  if (isCancellation(error)) return ApplicationFailure.nonRetryable('the upload was cancelled', 'cancelled');
  const { type, message } = failureOf(error, 'knowledge_upload_failed');
  return ApplicationFailure.nonRetryable(message, type);
}
