import { z } from 'zod';
import { seesAllRuns, type Principal } from '../../auth/principal.js';
import { AppError, notFound } from '../../base/errors.js';
import { textFacts, type Operation } from '../../governance/operations/operation.js';
import { listOf, listPage, ListQuery } from '../../stores/lists.js';
import { Connector, toConnector } from '../connectors/record/schemas.js';
import { requireConnector } from '../connectors/operations/setup.js';
import { findConnector } from '../connectors/operations/store.js';
import type { Deps } from '../deps.js';
import { deleteKnowledge } from './operations/knowledge-workflow.js';
import { defineOperation, reads, readsOwn } from '../operation.js';
import { type FileDocument, File, ListedFile, toKnowledgeState, UploadForm } from './record.js';
import { Id } from '../../base/ids.js';
import { pickShown } from '../../base/pick.js';
export { filesCollection } from './record.js';

const key = z.object({ file_id: Id });
const change = { effect: 'data', grant: 'svc:orchestrate.write' } as const;

export const uploadFiles = defineOperation({
  ...change,
  name: 'file.upload',
  input: UploadForm,
  output: z.object({ data: z.array(File) }),
  errors: ['plan_limit', 'payload_too_large'],
});

export const readFileRecord = defineOperation({
  ...readsOwn,
  name: 'file.read',
  key,
  output: File,
  run: async ({ deps, ctx, key: { file_id } }) =>
    toFile(deps, await readFile(deps, ctx.principal, file_id), ctx.baseUrl),
});

/** The deletion of a document with its chunks in the context graph. Unlike that of other files, it is always recorded. */
const deleteKnowledgeRules: Operation = {
  name: 'knowledge.delete',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  changesContext: true,
  facts: textFacts('file_id'),
};

export const deleteFile = defineOperation({
  ...change,
  name: 'file.delete',
  facts: textFacts('file_id'),
  causes: [
    {
      operation: deleteKnowledgeRules,
      when: 'if the file was uploaded to the knowledge base',
      calls: ({ file_id }, isKnowledge) =>
        isKnowledge === true ? [{ input: { file_id }, resource: { type: 'file', id: String(file_id) } }] : [],
    },
  ],
  key,
  async subject({ deps, ctx, key: { file_id } }) {
    const file = await deps.mongo.collections.files.findOne({ _id: file_id });
    return file?.projectID === ctx.principal.projectId && file.status !== 'deleted' && file.knowledge !== null;
  },
  output: File,
  errors: ['conflict'],
  run: async ({ deps, ctx, key: { file_id } }) =>
    toFile(deps, await removeFile(deps, ctx.principal, file_id), ctx.baseUrl),
});

export const listFiles = defineOperation({
  ...readsOwn,
  name: 'file.list',
  input: ListQuery,
  output: listOf(ListedFile),
  async run({ deps, ctx: { principal, baseUrl }, input }) {
    const own = seesAllRuns(principal) ? {} : { user_id: principal.userId };
    const present = { projectID: principal.projectId, status: { $ne: 'deleted' as const }, ...own };
    const page = await listPage(deps.mongo.collections.files, present, input);
    const data = page.data.map(async (file) => ({
      ...(await toFile(deps, file, baseUrl)),
      knowledge: file.knowledge && toKnowledgeState(file.knowledge),
    }));
    return { ...page, data: await Promise.all(data) };
  },
});

export const listFilesOfConnector = defineOperation({
  ...reads,
  name: 'file.list-of-connector',
  key: z.object({ connector_id: Id }),
  input: ListQuery,
  output: listOf(File),
  async run({ deps, ctx: { principal, baseUrl }, key: { connector_id }, input }) {
    const { collections } = deps.mongo;
    await requireConnector(collections, principal, connector_id);
    const ofConnector = { projectID: principal.projectId, connector_id, status: { $ne: 'deleted' as const } };
    const page = await listPage(collections.files, ofConnector, input);
    return { ...page, data: await Promise.all(page.data.map((file) => toFile(deps, file, baseUrl))) };
  },
});

export const readConnectorOfFile = defineOperation({
  ...reads,
  name: 'file.read-connector',
  key,
  output: Connector,
  async run({ deps, ctx: { principal }, key: { file_id } }) {
    const file = await readFile(deps, principal, file_id);
    const connector = file.connector_id === '' ? null : await findConnector(deps.mongo.collections, file.connector_id);
    if (connector?.projectID !== principal.projectId) throw notFound('the connector of the file');
    return toConnector(deps.auth.box, connector);
  },
});

/**
 * Deletes a file with its content and its chunks in the graph. The workflow that writes the chunks also deletes them, to
 * avoid a race. It is signalled first, so that it completes the deletion if this process crashes.
 * @throws AppError `conflict` while the file is being uploaded
 */
async function removeFile(deps: Deps, principal: Principal, id: string): Promise<FileDocument> {
  const file = await readFile(deps, principal, id);
  if (file.status === 'uploading') throw new AppError('conflict', 'the file is still being uploaded');
  if (file.knowledge) await deleteKnowledge(deps, file);
  await deps.files.deleteContent(file, 'deleted');
  return { ...file, status: 'deleted' };
}

/** @throws AppError `not_found` for a deleted file, and for a file that the caller does not see */
export async function readFile(
  { mongo }: Pick<Deps, 'mongo'>,
  principal: Principal,
  id: string,
): Promise<FileDocument> {
  const file = await mongo.collections.files.findOne({ _id: id });
  const isSeen =
    file?.projectID === principal.projectId && (seesAllRuns(principal) || file.user_id === principal.userId);
  if (!isSeen || file.status === 'deleted') throw notFound('the file');
  return file;
}

/** The file in the API, with a new download URL. */
export async function toFile({ files }: Pick<Deps, 'files'>, file: FileDocument, baseUrl: string): Promise<File> {
  return {
    ...pickShown(File, file),
    size_in_kb: Math.round((file.size_bytes / 1024) * 1000) / 1000,
    url: await files.urlOf(file, baseUrl),
  };
}
