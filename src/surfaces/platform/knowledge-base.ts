import * as knowledge from '../../domain/knowledge/operations.js';
import { routesOf, type Route } from '../rest/define-route.js';
import { upload } from './upload.js';

const route = routesOf('knowledge base');

/** Uploads documents into the context graph (contract, knowledge base). */
export const knowledgeBaseRoutes: readonly Route[] = [
  route('POST /knowledge_base/{projectID}/upload', knowledge.uploadKnowledge, {
    summary: 'Upload documents to the knowledge base',
    description:
      'Accepts text, Markdown, HTML, CSV and PDF, as detected from the content. A workflow per file writes its chunks to the context graph.',
    multipart: true,
    response: { status: 202, description: 'The files with their workflows.' },
    idempotent: true,
    async handler({ deps, ctx }) {
      await deps.customers.requireFeature(ctx.principal.organizationId, 'knowledge_base');
      const files = await upload(deps, ctx, knowledge.knowledgeRules(deps, ctx));
      return { data: await Promise.all(files.map((file) => knowledge.toKnowledgeUpload(deps, file, ctx.baseUrl))) };
    },
  }),
  route('GET /knowledge_base/{projectID}/upload/{file_id}', knowledge.readKnowledgeUpload, {
    summary: 'Read the progress of a document',
    response: { description: 'The file with its progress.' },
  }),
];
