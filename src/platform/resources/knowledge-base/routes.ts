import { z } from 'zod';
import { knowledgeUploadWorkflowId } from '../../../../workflows/knowledge-upload/messages.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import type { FileDocument } from '../../../files/record.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { File, UploadForm } from '../files/schemas.js';
import { readFile, toFile } from '../files/store.js';
import { upload } from '../files/upload.js';
import { startKnowledge } from './workflow.js';

const tag = 'knowledge base';
const query = z.object({ projectID: z.string().optional() });
const params = z.object({ projectID: z.string() });
const documentTypes = ['text/plain', 'text/markdown', 'text/html', 'text/csv', 'application/pdf'];

const KnowledgeUpload = z
  .object({
    file: File,
    workflow_id: z.string(),
    status: z.enum(['queued', 'running', 'completed', 'failed', 'removed']),
    chunks: z.object({
      done: z.int().meta({ description: 'How many are in the graph.' }),
      total: z.int().nullable().meta({ description: 'Null until the text is read.' }),
    }),
    failure: z.string().nullable().meta({ description: 'Why the document could not be read.' }),
  })
  .meta({ id: 'KnowledgeUpload' });
type KnowledgeUpload = z.infer<typeof KnowledgeUpload>;

/** Documents into the context graph (contract, knowledge base), and how far they are, which is an addition. */
export function knowledgeBaseRoutes(deps: Deps, baseUrl: () => string): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/knowledge_base/{projectID}/upload',
      permission: 'svc:orchestrate.write',
      tag,
      params,
      query,
      summary: 'Bring documents into the knowledge base',
      description: 'Text, Markdown, HTML, CSV and PDF, by what the bytes are. A workflow for each file puts its chunks into the context graph.',
      body: UploadForm,
      multipart: true,
      response: { status: 202, schema: z.object({ data: z.array(KnowledgeUpload) }), description: 'The files, with the workflows that read them.' },
      errors: ['plan_limit', 'payload_too_large', 'validation_failed'],
      idempotent: true,
      async handler({ ctx }) {
        await deps.customers.requireFeature(ctx.principal.organizationId, 'knowledge_base');
        const files = await upload(deps, ctx, {
          accept: refuseOtherTypes,
          knowledgeOf: ({ _id }) => ({ status: 'queued', total: null, done: 0, failure: null, workflow_id: knowledgeUploadWorkflowId(_id) }),
          then: async (kept) => void (await Promise.all(kept.map((file) => startKnowledge(deps, file)))),
        });
        return { data: await Promise.all(files.map((file) => toUpload(deps, file, baseUrl()))) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/knowledge_base/{projectID}/upload/{file_id}',
      permission: 'svc:orchestrate.read',
      tag,
      params: params.extend({ file_id: z.string() }),
      query,
      summary: 'See how far a document is',
      response: { schema: KnowledgeUpload, description: 'The file with its progress.' },
      handler: async ({ ctx, params: { file_id } }) => toUpload(deps, await readFile(deps, ctx.principal, file_id), baseUrl()),
    }),
  ];
}

function refuseOtherTypes({ name, mime_type }: FileDocument): void {
  if (!documentTypes.includes(mime_type)) throw new AppError('validation_failed', `${name} is ${mime_type}; a knowledge base takes ${documentTypes.join(', ')}`);
}

/** @throws AppError `not_found` for a file that was not uploaded to the knowledge base */
async function toUpload(deps: Deps, file: FileDocument, baseUrl: string): Promise<KnowledgeUpload> {
  if (!file.knowledge) throw notFound('the knowledge upload');
  const { workflow_id, status, done, total, failure } = file.knowledge;
  return { file: await toFile(deps, file, baseUrl), workflow_id, status, chunks: { done, total }, failure };
}
