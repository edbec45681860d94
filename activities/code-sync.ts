import { recordCodeSync, saveCommits, saveStart, type CodeSyncStores } from '../src/domain/code-sync/save-push.js';
import type { ServiceRecorderDeps } from '../src/governance/service-record.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { CodeSyncActivities } from '../workflows/code-sync/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface CodeSyncActivityDeps extends CodeSyncStores {
  mongo: Pick<Mongo, 'collections'>;
  audit: ServiceRecorderDeps['audit'];
}

export function createCodeSyncActivities(deps: CodeSyncActivityDeps): CodeSyncActivities {
  const { mongo, audit } = deps;
  return {
    saveCommits: (input) => withHeartbeat(saveStart, (progress) => saveCommits(deps, input, progress)),
    recordCodeSync: (sync) => recordCodeSync({ collections: mongo.collections, audit }, sync),
  };
}
