import {
  embedNext,
  nothingToEmbed,
  recordEmbeddingFailure,
  type EmbeddingDeps,
} from '../src/domain/embedding/embed-next.js';
import { unlessDeleted } from '../src/graph/ontology/state.js';
import type { EmbeddingActivities } from '../workflows/embedding/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export function createEmbeddingActivities(deps: EmbeddingDeps): EmbeddingActivities {
  return {
    embedNext: (request) =>
      withHeartbeat(null, ({ signal }) => unlessDeleted(embedNext(deps, request, signal), nothingToEmbed)),
    recordEmbeddingFailure: ({ project_id, message }) =>
      withHeartbeat(null, () => unlessDeleted(recordEmbeddingFailure(deps, project_id, message), undefined)),
  };
}
