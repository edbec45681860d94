import { proxyActivities } from '@temporalio/workflow';
import type { ProjectRemovalActivities } from './activities.js';
import type { ProjectRemovalInput } from './messages.js';

/** A server that is away may be so for long: it is tried for as long as it takes. */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
const slow = { startToCloseTimeout: '1h', heartbeatTimeout: '15s', retry } as const;

const { closeProject } = proxyActivities<ProjectRemovalActivities>({ startToCloseTimeout: '1m', retry, summary: 'end its credentials and mark it deleted' });
const { removeStarters } = proxyActivities<ProjectRemovalActivities>({ ...slow, summary: 'take away what starts runs' });
const { cancelExecutions } = proxyActivities<ProjectRemovalActivities>({ ...slow, summary: 'cancel what runs' });

/** Deletes a project with all that would go on firing in it: first nothing can be started any more, then what runs ends. */
export async function projectRemoval(input: ProjectRemovalInput): Promise<{ cancelled: number }> {
  await closeProject(input);
  await removeStarters(input);
  return cancelExecutions(input);
}
