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
import {
  removeSignal,
  stateQuery,
  type KnowledgeUploadInput,
  type KnowledgeUploadResult,
  type KnowledgeUploadState,
} from './messages.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
/** Removal waits until the current batch has ended, so that it misses no chunk. */
const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;
const { extractChunks } = proxyActivities<KnowledgeUploadActivities>({
  startToCloseTimeout: '30m',
  heartbeatTimeout: '15s',
  scheduleToCloseTimeout: '24h',
  cancellationType,
  // Activities refuse faulty documents without a retry; all other failures are transient.
  retry,
  summary: 'read the text',
});
const { saveChunks, rememberDocument } = proxyActivities<KnowledgeUploadActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '15s',
  scheduleToCloseTimeout: '24h',
  cancellationType,
  retry,
  summary: 'write chunks into the graph',
});
const { finishKnowledge, removeKnowledge } = proxyActivities<KnowledgeUploadActivities>({
  startToCloseTimeout: '30m',
  heartbeatTimeout: '15s',
  scheduleToCloseTimeout: '24h',
  retry,
  summary: 'record the outcome',
});

/**
 * Writes one document into the graph of its project, and removes it again on the signal `remove`. Fails with the reason why
 * the document cannot be read. A cancelled upload counts as failed.
 */
export async function knowledgeUpload(upload: KnowledgeUploadInput): Promise<KnowledgeUploadResult> {
  const state: KnowledgeUploadState = { total: null, done: 0, removing: false };
  const started_at = epochSeconds();
  const work = new CancellationScope();
  setHandler(stateQuery, () => state, { description: 'The written and total chunks' });
  const remove = () => {
    state.removing = true;
    work.cancel();
  };
  setHandler(removeSignal, remove, { description: 'Stop writing the document and remove its chunks' });

  const stored = { total: 0, batches: 0 };
  let failure: ApplicationFailure | null = null;
  try {
    if (!state.removing) await work.run(() => writeAll(upload, state, stored));
  } catch (error) {
    failure = toFailure(error);
  }
  await CancellationScope.nonCancellable(async () => {
    if (!state.removing) await finishKnowledge({ upload, started_at, ...stored, failure: failure?.message ?? null });
    if (state.removing) await removeKnowledge(upload);
  });
  setCurrentDetails(detailsOf(upload, state));
  if (failure && !state.removing) throw failure;
  return { chunks: state.removing ? 0 : state.done, removed: state.removing };
}

async function writeAll(
  upload: KnowledgeUploadInput,
  state: KnowledgeUploadState,
  stored: { total: number; batches: number },
): Promise<void> {
  setCurrentDetails(detailsOf(upload, state));
  Object.assign(stored, await extractChunks(upload));
  state.total = stored.total;
  for (let batch = 0; batch < stored.batches; batch += 1) {
    setCurrentDetails(detailsOf(upload, state));
    const { saved } = await saveChunks({ upload, batch, before: state.done });
    state.done += saved;
  }
  if (upload.extract) await rememberDocument({ upload, batches: stored.batches });
}

/** The Markdown that the Temporal UI shows as the run's current details. */
function detailsOf({ name }: KnowledgeUploadInput, { total, done, removing }: KnowledgeUploadState): string {
  const title = `Document \`${name.replaceAll('`', "'")}\``;
  if (removing) return `${title}: removed`;
  return total === null ? `${title}: reading its text` : `${title}: ${done} of ${total} chunks`;
}

function toFailure(error: unknown): ApplicationFailure {
  if (isCancellation(error)) return ApplicationFailure.nonRetryable('the upload was cancelled', 'cancelled');
  const { type, message } = failureOf(error, 'knowledge_upload_failed');
  return ApplicationFailure.nonRetryable(message, type);
}
