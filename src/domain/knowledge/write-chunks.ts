import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { FileStore } from '../../stores/file-store.js';
import type { FileDocument } from '../files/record.js';
import { lockProject } from '../../graph/ontology/state.js';
import { save } from '../../graph/save/save.js';
import { inWriteTransaction } from '../../graph/store/sessions.js';
import type { Graph } from '../../stores/neo4j.js';
import { epochSeconds } from '../../base/time.js';
import type { KnowledgeUploadInput } from '../../../workflows/knowledge-upload/messages.js';
import { batches } from '../batches.js';
import { removeEntities } from '../../graph/store/remove.js';
import { graphName, graphText } from '../../graph/graph-text.js';
import type { Chunk } from './chunks.js';

/** The number of chunks in one activity and in one transaction. */
const batchSize = 200;
const maxRemovalsPerBatch = 500;
const service = 'service:knowledge-upload';

const Batch = z.array(z.object({ heading: z.string().nullable(), page: z.number().nullable(), text: z.string() }));

const batchName = (location: string, batch: number) => `${location}.chunks-${batch}`;

/** Stores batches in the file store until they are in the graph, so that each activity reads only its own batch. */
export async function storeBatches(
  store: FileStore,
  { location }: FileDocument,
  chunks: readonly Chunk[],
): Promise<number> {
  const all = batches(chunks, batchSize);
  for (const [batch, some] of all.entries()) {
    await store.write(
      batchName(location, batch),
      Readable.from([Buffer.from(JSON.stringify(some))], { objectMode: false }),
    );
  }
  return all.length;
}

export async function readBatch(store: FileStore, { location }: FileDocument, batch: number): Promise<Chunk[]> {
  return Batch.parse(JSON.parse((await buffer(await store.read(batchName(location, batch)))).toString('utf8')));
}

export async function removeBatches(store: FileStore, { location }: FileDocument, total: number): Promise<void> {
  for (let batch = 0; batch * batchSize < total; batch += 1) await store.remove(batchName(location, batch));
}

/** Writes the document and some of its chunks. The ids are deterministic, so it is safe to repeat. */
export async function writeChunks(
  graph: Graph,
  upload: KnowledgeUploadInput,
  file: FileDocument,
  batch: number,
  chunks: readonly Chunk[],
): Promise<void> {
  const name = graphName(file.name);
  const document = {
    id: file._id,
    type: 'Document',
    name,
    properties: {
      mime_type: file.mime_type,
      uploaded_on: file.uploaded_on,
      tags: file.tags.length > 0 ? file.tags : null,
    },
  };
  const entities = chunks.map(({ heading, page, text }, at) => {
    const position = batch * batchSize + at + 1;
    const properties = { text: graphText(text, 16_000), position, document: name, heading, page };
    return {
      id: `${file._id}:${position}`,
      type: 'DocumentChunk',
      name: graphName(`${name.slice(0, 400)} ${position}`),
      properties,
    };
  });
  const relationships = entities.map(({ id }) => ({ from: id, type: 'PART_OF', to: file._id, properties: {} }));
  const stamp = {
    saved_by: service,
    source: sourceOf(file),
    recorded_at: epochSeconds(),
    lifecycle_id: upload.lifecycle_id,
  };
  await save(graph, upload.project_id, { entities: [document, ...entities], relationships, facts: [] }, stamp);
}

/** Removes the chunks before the document, so that a repeat finds the remaining ones. */
export async function removeChunks(
  graph: Graph,
  { project_id, file_id }: KnowledgeUploadInput,
  reached: () => void,
): Promise<void> {
  for (let left = true; left; reached()) {
    left = await inWriteTransaction(graph, project_id, async (tx) => {
      await lockProject(tx, project_id);
      const { records } = await tx.run(
        `MATCH (:Entity {project_id: $projectId, id: $id})<-[:PART_OF]-(chunk:DocumentChunk) WHERE chunk.id STARTS WITH $prefix
         RETURN chunk.id AS id LIMIT ${maxRemovalsPerBatch}`,
        { projectId: project_id, id: file_id, prefix: `${file_id}:` },
      );
      const ids = records.map((record) => record.get('id') as string);
      await removeEntities(tx, project_id, ids.length > 0 ? ids : [file_id]);
      return ids.length > 0;
    });
  }
}

/** The source in the provenance of the document. */
export function sourceOf({ name, _id }: FileDocument): string {
  return `file ${_id} (${graphName(name).slice(0, 240)})`;
}
