import { proxyActivities } from '@temporalio/workflow';
import type { TextIndexActivities } from './activities.js';
import type { TextIndexInput } from './messages.js';

const { buildTextIndex } = proxyActivities<TextIndexActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '15s',
  // Without a limit, because the graph can be unavailable for a long time. The graph keeps how far the index is.
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  summary: 'index the texts of the project in its language',
});

/** Builds the full-text index after the language of a project changed. */
export async function textIndex(input: TextIndexInput): Promise<void> {
  await buildTextIndex(input);
}
