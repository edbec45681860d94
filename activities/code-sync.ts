import { recordCodeSync, saveCommits, saveStart } from '../src/domain/code-sync/save-push.js';
import type { Deps } from '../src/domain/deps.js';
import type { CodeSyncActivities } from '../workflows/code-sync/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export function createCodeSyncActivities(deps: Deps): CodeSyncActivities {
  return {
    saveCommits: (input) => withHeartbeat(saveStart, (progress) => saveCommits(deps, input, progress)),
    recordCodeSync: (sync) => recordCodeSync(deps, sync),
  };
}
