import type { Readable } from 'node:stream';
import { createServiceRecorder, type ServiceRecorderDeps } from '../src/callbacks/service-record.js';
import { notFound } from '../src/errors.js';
import type { Files } from '../src/files/create-files.js';
import type { FileDocument, KnowledgeProgress } from '../src/files/record.js';
import type { Collections } from '../src/stores/collections.js';
import type { Mongo } from '../src/stores/mongo.js';
import type { Graph } from '../src/stores/neo4j.js';
import { epochSeconds } from '../src/time.js';
import type { KnowledgeUploadActivities } from '../workflows/knowledge-upload/activities.js';
import type { KnowledgeUploadInput } from '../workflows/knowledge-upload/messages.js';
import { withHeartbeat } from './with-heartbeat.js';
import { createExtraction } from './knowledge-upload/extract-apart.js';
import { clearAway, layDown, pickUp, removeChunks, writeChunks } from './knowledge-upload/write.js';

export interface KnowledgeUploadActivityDeps {
  mongo: Pick<Mongo, 'collections'>;
  graph: Graph;
  files: Files;
  audit: ServiceRecorderDeps['audit'];
}

/** Documents into the graph and out of it again. */
export function createKnowledgeUploadActivities({ mongo, graph, files, audit }: KnowledgeUploadActivityDeps): KnowledgeUploadActivities {
  const { collections } = mongo;
  const extractApart = createExtraction();
  const record = createServiceRecorder({ collections, audit });

  async function readyFile({ file_id }: KnowledgeUploadInput): Promise<FileDocument> {
    const file = await collections.files.findOne({ _id: file_id });
    if (file?.status !== 'ready') throw notFound('the file');
    return file;
  }

  const progress = (upload: KnowledgeUploadInput, known: Partial<KnowledgeProgress>) => setProgress(collections, upload, known);

  return {
    extractChunks: (upload) =>
      withHeartbeat({}, async ({ signal }) => {
        const file = await readyFile(upload);
        const bytes = await bytesOf(await files.store.read(file.location), file.size_bytes);
        const chunks = await extractApart(bytes, file.mime_type, signal);
        const batches = await layDown(files.store, file, chunks);
        await progress(upload, { status: 'running', total: chunks.length });
        return { total: chunks.length, batches };
      }),

    saveChunks: ({ upload, batch, before }) =>
      withHeartbeat({}, async () => {
        const file = await readyFile(upload);
        const chunks = await pickUp(files.store, file, batch);
        await writeChunks(graph, upload, file, batch, chunks);
        await progress(upload, { done: before + chunks.length });
        return { saved: chunks.length };
      }),

    finishKnowledge: ({ upload, started_at, total, failure }) =>
      withHeartbeat({}, async ({ cursor, reached }) => {
        const file = await collections.files.findOne({ _id: upload.file_id });
        if (file) await clearAway(files.store, file, total);
        if (file?.status === 'ready' && failure !== null) {
          await removeChunks(graph, upload, () => reached(cursor));
          await files.end(file, 'failed');
        }
        await progress(upload, failure === null ? { status: 'completed' } : { status: 'failed', done: 0, failure });
        const status = failure === null ? 'completed' : 'failed';
        await record({
          lifecycle_id: upload.lifecycle_id,
          tool: 'knowledge-upload',
          status,
          ...{ project_id: upload.project_id, organization_id: upload.organization_id },
          resource: `file:${upload.file_id}`,
          stages: [{ stage: 'S8:execute', status: failure === null ? 'ok' : 'failed', detail: failure ?? `${total} chunks` }],
          created_at: started_at,
          ended_at: epochSeconds(),
        });
      }),

    removeKnowledge: (upload) =>
      withHeartbeat({}, async ({ cursor, reached }) => {
        await removeChunks(graph, upload, () => reached(cursor));
        const file = await collections.files.findOne({ _id: upload.file_id });
        if (!file) return;
        await clearAway(files.store, file, file.knowledge?.total ?? 0);
        await files.end(file, 'deleted');
        await progress(upload, { status: 'removed', done: 0 });
      }),
  };
}

async function setProgress({ files }: Pick<Collections, 'files'>, { file_id }: KnowledgeUploadInput, known: Partial<KnowledgeProgress>): Promise<void> {
  const $set = Object.fromEntries(Object.entries(known).map(([name, value]) => [`knowledge.${name}`, value]));
  await files.updateOne({ _id: file_id }, { $set });
}

/** In memory of its own, which can be handed to a thread. */
async function bytesOf(source: Readable, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
