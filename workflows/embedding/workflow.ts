import { continueAsNew, isCancellation, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import { failureOf, requestedWaitMs } from '../failure.js';
import { historyIsFull } from '../history.js';
import { timeOrderedId } from '../time-ordered-id.js';
import type { EmbeddingActivities } from './activities.js';
import type { EmbeddingInput, EmbeddingTotals } from './messages.js';

const { embedNext } = proxyActivities<EmbeddingActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '15s',
  // The workflow reports each failure, waits and tries again.
  retry: { maximumAttempts: 1 },
  summary: 'embed what was saved',
});
const { recordEmbeddingFailure } = proxyActivities<EmbeddingActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  summary: 'report why it does not advance',
});

const longestWaitMs = 60_000;

/** Embeds what was saved in a project until nothing is left. Waits while the endpoint does not answer. */
export async function embedding(input: EmbeddingInput): Promise<EmbeddingTotals> {
  const { project_id, organization_id, resumed } = input;
  const totals = resumed?.totals ?? { embedded: 0, unchanged: 0, removed: 0, refused: 0 };
  let failures = resumed?.failures ?? 0;
  let charge_key = timeOrderedId();
  for (;;) {
    try {
      const { done, ...slice } = await embedNext({ project_id, organization_id, charge_key });
      // A repeated slice is charged once.
      charge_key = timeOrderedId();
      failures = 0;
      for (const name of Object.keys(totals) as (keyof EmbeddingTotals)[]) totals[name] += slice[name];
      setCurrentDetails(`${totals.embedded} embedded, ${totals.unchanged} unchanged, ${totals.removed} removed`);
      if (done) return totals;
    } catch (error) {
      if (isCancellation(error)) throw error;
      const { message } = failureOf(error, 'embedding_failed');
      setCurrentDetails(`Waits: ${message}`);
      await recordEmbeddingFailure({ project_id, message });
      const waitMs = Math.min(2000 * 2 ** failures, longestWaitMs);
      failures = Math.min(failures + 1, 10);
      await sleep(Math.max(waitMs, requestedWaitMs(error)), { summary: 'wait for the endpoint' });
    }
    if (historyIsFull(input)) return continueAsNew<typeof embedding>({ ...input, resumed: { totals, failures } });
  }
}
