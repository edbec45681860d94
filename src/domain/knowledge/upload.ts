import type { Readable } from 'node:stream';
import type { KnowledgeUploadActivities } from '../../../workflows/knowledge-upload/activities.js';
import type { KnowledgeUploadInput } from '../../../workflows/knowledge-upload/messages.js';
import type { Maker } from '../../auth/authority.js';
import { isRefusal, notFound } from '../../base/errors.js';
import { derivedId } from '../../graph/store/names.js';
import type { NewMemory } from '../memories/operations.js';
import { documentBounds, refuseOverlong } from '../memories/rules.js';
import type { Chunk } from './chunks.js';
import { noteChange } from '../../governance/change-notes.js';
import { recordServiceRun } from '../../governance/service-record.js';
import type { Collections } from '../../stores/collections.js';
import type { Deps } from '../deps.js';
import type { FileDocument, KnowledgeProgress } from '../files/record.js';
import type { Extraction } from './extraction.js';
import { readBatch, removeBatches, removeChunks, sourceOf, storeBatches, writeChunks } from './write-chunks.js';

type Request<Name extends keyof KnowledgeUploadActivities> = Parameters<KnowledgeUploadActivities[Name]>[0];

export interface KnowledgeUploadDeps extends Pick<Deps, 'mongo' | 'graph' | 'files' | 'governance'> {
  extract: Extraction;
  remember: Remember;
}

/** Starts a memory as a governed call of the person who uploaded the document (`rememberAsMaker`). */
type Remember = (maker: Maker, id: string, memory: NewMemory) => Promise<unknown>;

/** Reads the document's text and stores its chunks in batches. */
export async function extractChunks(
  { mongo: { collections }, files, extract }: KnowledgeUploadDeps,
  upload: KnowledgeUploadInput,
  signal: AbortSignal,
): Promise<{ total: number; batches: number }> {
  const file = await readyFile(collections, upload);
  const bytes = await bytesOf(await files.store.read(file.location), file.size_bytes);
  const chunks = await extract('chunks', bytes, file.mime_type, { owner: file.organization_id, signal });
  // Stored first, so that the batches can be removed even if the worker is killed while it writes them.
  await setProgress(collections, upload, { status: 'running', total: chunks.length });
  const batches = await storeBatches(files.store, file, chunks);
  return { total: chunks.length, batches };
}

/** Writes one batch into the graph. */
export async function saveChunks(
  { mongo: { collections }, graph, files }: KnowledgeUploadDeps,
  { upload, batch, before }: Request<'saveChunks'>,
): Promise<{ saved: number }> {
  const file = await readyFile(collections, upload);
  const chunks = await readBatch(files.store, file, batch);
  await writeChunks(graph, upload, file, batch, chunks);
  await setProgress(collections, upload, { done: before + chunks.length });
  return { saved: chunks.length };
}

/**
 * Starts the extraction of the document's facts. Each chunk is a turn, so that the provenance names it. A refusal is
 * recorded and does not fail the upload.
 */
export async function rememberDocument(
  { mongo: { collections }, files, remember }: KnowledgeUploadDeps,
  { upload, batches }: Request<'rememberDocument'>,
): Promise<void> {
  const file = await readyFile(collections, upload);
  const chunks: Chunk[] = [];
  for (let batch = 0; batch < batches; batch += 1) chunks.push(...(await readBatch(files.store, file, batch)));
  const turns = chunks.map(({ text }) => ({ speaker: null, text, at: file.uploaded_on / 1000 }));
  const { projectID: projectId, organization_id: organizationId, user_id: userId, knowledge } = file;
  const maker = { userId, organizationId, projectId, authority: knowledge?.authority };
  const memory_id = derivedId('memory', file._id);
  const options = { entity_types: null, budget: null, review: false };
  try {
    refuseOverlong(turns, documentBounds);
    await remember(maker, memory_id, { turns, is_conversation: true, source: sourceOf(file), ...options });
    await setProgress(collections, upload, { memory_id });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await setProgress(collections, upload, { extract_failure: error.message });
  }
}

/** Records the outcome in the file's record and in a lifecycle. After a failure, removes everything of the document. */
export async function finishKnowledge(
  deps: KnowledgeUploadDeps,
  { upload, started_at, total, failure }: Request<'finishKnowledge'>,
  heartbeat: () => void,
): Promise<void> {
  const { graph, files } = deps;
  const { collections } = deps.mongo;
  const { lifecycle_id, project_id, organization_id, file_id } = upload;
  const file = await collections.files.findOne({ _id: file_id });
  if (file) await removeBatches(files.store, file, Math.max(total, file.knowledge?.total ?? 0));
  if (file?.status === 'ready' && failure !== null) {
    await removeChunks(graph, upload, heartbeat);
    await files.deleteContent(file, 'failed');
  }
  const known = failure === null ? { status: 'completed' as const } : { status: 'failed' as const, done: 0, failure };
  await setProgress(collections, upload, known);
  await recordServiceRun(
    deps,
    'knowledge-upload',
    { lifecycle_id, project_id, organization_id, resource: `file:${file_id}` },
    { failed: failure !== null, detail: failure ?? `${total} chunks`, started_at },
  );
}

/** Removes chunks, bytes and batches, and marks the file as deleted. */
export async function removeKnowledge(
  { mongo: { collections }, graph, files }: KnowledgeUploadDeps,
  upload: KnowledgeUploadInput,
  heartbeat: () => void,
): Promise<void> {
  await removeChunks(graph, upload, heartbeat);
  const file = await collections.files.findOne({ _id: upload.file_id });
  if (!file) return;
  await removeBatches(files.store, file, file.knowledge?.total ?? 0);
  await files.deleteContent(file, 'deleted');
  await setProgress(collections, upload, { status: 'removed', done: 0 });
}

async function readyFile(
  { files }: Pick<Collections, 'files'>,
  { file_id }: KnowledgeUploadInput,
): Promise<FileDocument> {
  const file = await files.findOne({ _id: file_id });
  if (file?.status !== 'ready') throw notFound('the file');
  return file;
}

async function setProgress(
  { files, project_news }: Pick<Collections, 'files' | 'project_news'>,
  { file_id, project_id }: KnowledgeUploadInput,
  known: Partial<KnowledgeProgress>,
): Promise<void> {
  const $set = Object.fromEntries(Object.entries(known).map(([name, value]) => [`knowledge.${name}`, value]));
  await files.updateOne({ _id: file_id }, { $set });
  noteChange({ project_news }, project_id, 'file');
}

/** Copies the content to its own memory, which can be transferred to a thread. */
async function bytesOf(source: Readable, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
