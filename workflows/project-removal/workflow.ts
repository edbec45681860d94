import { proxyActivities } from '@temporalio/workflow';
import type { ProjectRemovalActivities } from './activities.js';
import type { ProjectRemovalInput } from './messages.js';

/** Without a limit, because a server can be unavailable for a long time. */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
const slow = { startToCloseTimeout: '1h', heartbeatTimeout: '15s', retry } as const;

const { closeProject } = proxyActivities<ProjectRemovalActivities>({
  startToCloseTimeout: '1m',
  retry,
  summary: 'revoke its credentials and mark it as deleted',
});
const { removeStarters } = proxyActivities<ProjectRemovalActivities>({ ...slow, summary: 'remove what starts runs' });
const { cancelExecutions } = proxyActivities<ProjectRemovalActivities>({
  ...slow,
  summary: 'cancel running executions',
});

const { removeKnowledgeOfProject } = proxyActivities<ProjectRemovalActivities>({
  ...slow,
  startToCloseTimeout: '12h',
  summary: 'remove its context graph, remembered texts, tables and files',
});

/**
 * Deletes a project and everything in it that starts runs: first prevents new runs, then cancels the running ones. Then
 * it deletes its contents.
 */
export async function projectRemoval(input: ProjectRemovalInput): Promise<{ cancelled: number }> {
  await closeProject(input);
  await removeStarters(input);
  const cancelled = await cancelExecutions(input);
  await removeKnowledgeOfProject(input);
  return cancelled;
}
