import { Context } from '@temporalio/activity';
import { extractMemoryPart, type MemoryDeps } from '../src/domain/memories/extract.js';
import type { SavePartAsPerson } from '../src/domain/memories/record.js';
import { askForReview, finishMemory, saveMemoryPart } from '../src/domain/memories/write.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { RememberActivities } from '../workflows/remember/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

interface MemoryActivityDeps extends Omit<MemoryDeps, 'collections'> {
  mongo: Pick<Mongo, 'collections'>;
  save: SavePartAsPerson;
  /** How long ended memories are kept; 0 keeps them forever. */
  retentionDays: number;
}

/** Extracts the facts of texts and writes them into the graph. */
export function createMemoryActivities({ mongo: { collections }, ...rest }: MemoryActivityDeps): RememberActivities {
  const deps = { ...rest, collections };
  return {
    extractMemoryPart: ({ memory: { memory_id }, part }) =>
      withHeartbeat({}, ({ signal }) =>
        extractMemoryPart(deps, { memory_id, part }, { signal, attempt: Context.current().info.attempt }),
      ),
    saveMemoryPart: (request) => withHeartbeat({}, ({ signal }) => saveMemoryPart(deps, request, signal)),
    askForReview: (request) => withHeartbeat({}, () => askForReview(collections, request)),
    finishMemory: (request) => withHeartbeat({}, () => finishMemory(collections, request, rest.retentionDays)),
  };
}
