import { ApplicationFailure, isCancellation, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import { epochSeconds } from '../time.js';
import type { CodeSyncActivities } from './activities.js';
import type { CodeSyncInput, CodeSyncResult } from './messages.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' } as const;
const { saveCommits } = proxyActivities<CodeSyncActivities>({
  startToCloseTimeout: '1h',
  scheduleToCloseTimeout: '24h',
  heartbeatTimeout: '15s',
  retry,
  summary: 'write commits, authors and paths',
});
const { recordCodeSync } = proxyActivities<CodeSyncActivities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '24h',
  retry,
  summary: 'record the sync',
});

/** Writes one push to a bound repository into the graph of one project. */
export async function codeSync(input: CodeSyncInput): Promise<CodeSyncResult> {
  const { push, stored_commits } = input;
  const commits = stored_commits?.count ?? push.commits.length;
  const started_at = epochSeconds();
  setCurrentDetails(`Push of ${commits} commits to \`${push.repository}\`, branch \`${push.branch}\``);
  try {
    const result = await saveCommits(input);
    await recordCodeSync({ input, started_at, result, failure: null });
    return result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error, 'sync_failed');
    await recordCodeSync({ input, started_at, result: null, failure: message });
    throw ApplicationFailure.nonRetryable(message, type);
  }
}
