import { createExtraction } from '../src/domain/knowledge/extract-apart.js';
import {
  extractChunks,
  finishKnowledge,
  rememberDocument,
  removeKnowledge,
  saveChunks,
  type KnowledgeUploadDeps,
  type Remember,
} from '../src/domain/knowledge/upload.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { KnowledgeUploadActivities } from '../workflows/knowledge-upload/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export interface KnowledgeUploadActivityDeps extends Omit<KnowledgeUploadDeps, 'collections'> {
  mongo: Pick<Mongo, 'collections'>;
  remember: Remember;
}

/** Writes documents into the graph and removes them. */
export function createKnowledgeUploadActivities({
  mongo: { collections },
  ...rest
}: KnowledgeUploadActivityDeps): KnowledgeUploadActivities {
  const deps = { ...rest, collections };
  const extract = createExtraction();
  return {
    extractChunks: (upload) => withHeartbeat({}, ({ signal }) => extractChunks(deps, upload, extract, signal)),
    saveChunks: (batch) => withHeartbeat({}, () => saveChunks(deps, batch)),
    rememberDocument: (document) => withHeartbeat({}, () => rememberDocument(deps, document)),
    finishKnowledge: (end) =>
      withHeartbeat({}, ({ cursor, reached }) => finishKnowledge(deps, end, () => reached(cursor))),
    removeKnowledge: (upload) =>
      withHeartbeat({}, ({ cursor, reached }) => removeKnowledge(deps, upload, () => reached(cursor))),
  };
}
