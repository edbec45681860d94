import {
  extractChunks,
  finishKnowledge,
  rememberDocument,
  removeKnowledge,
  saveChunks,
  type KnowledgeUploadDeps,
} from '../src/domain/knowledge/upload.js';
import type { KnowledgeUploadActivities } from '../workflows/knowledge-upload/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

export function createKnowledgeUploadActivities(deps: KnowledgeUploadDeps): KnowledgeUploadActivities {
  return {
    extractChunks: (upload) => withHeartbeat({}, ({ signal }) => extractChunks(deps, upload, signal)),
    saveChunks: (batch) => withHeartbeat({}, () => saveChunks(deps, batch)),
    rememberDocument: (document) => withHeartbeat({}, () => rememberDocument(deps, document)),
    finishKnowledge: (end) =>
      withHeartbeat({}, ({ cursor, reached }) => finishKnowledge(deps, end, () => reached(cursor))),
    removeKnowledge: (upload) =>
      withHeartbeat({}, ({ cursor, reached }) => removeKnowledge(deps, upload, () => reached(cursor))),
  };
}
