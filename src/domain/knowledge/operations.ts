import { z } from 'zod';
import { knowledgeUploadWorkflowId } from '../../../workflows/knowledge-upload/messages.js';
import { authorityOf } from '../../auth/authority.js';
import { AppError, notFound } from '../../base/errors.js';
import type { CallContext } from '../../governance/operations/call-context.js';
import type { Deps } from '../deps.js';
import { readFile, toFile } from '../files/operations.js';
import { type FileDocument, File, KnowledgeState, toKnowledgeState, UploadForm } from '../files/record.js';
import { documentFormats, isDocumentType } from '../files/rules.js';
import { rememberRules } from '../memories/rules.js';
import { defineOperation, reads, writes } from '../operation.js';
import { startKnowledge } from '../files/operations/knowledge-workflow.js';
import { Id } from '../../base/ids.js';

const KnowledgeUpload = z.object({ file: File, ...KnowledgeState.shape }).meta({ id: 'KnowledgeUpload' });
type KnowledgeUpload = z.infer<typeof KnowledgeUpload>;

const KnowledgeForm = UploadForm.extend({
  extract: z
    .enum(['true', 'false'])
    .optional()
    .describe('Also extracts the facts of the documents, as `POST /v1/remember` does.'),
}).meta({ id: 'KnowledgeForm', example: { file: ['…'], tags: ['2026'], extract: 'true' } });

export const uploadKnowledge = defineOperation({
  name: 'knowledge.upload',
  ...writes,
  changesContext: true,
  facts: { extract: { type: 'Boolean', read: ({ extract }) => extract === 'true' } },
  causes: [
    {
      operation: rememberRules,
      when: 'if `extract` is true',
      calls: ({ extract }) => (extract === 'true' ? [{ input: {} }] : []),
    },
  ],
  input: KnowledgeForm,
  output: z.object({ data: z.array(KnowledgeUpload) }),
  errors: ['plan_limit', 'payload_too_large', 'validation_failed'],
});

/** The form field and the progress of files that are uploaded to the knowledge base. */
export function knowledgeRules(
  deps: Deps,
  { principal, recheckPolicies }: Pick<CallContext, 'principal' | 'recheckPolicies'>,
) {
  let isExtracted = false;
  return {
    accept: refuseOtherTypes,
    own: {
      names: ['extract'],
      take(name: string, value: string) {
        if (value !== 'true' && value !== 'false')
          throw new AppError('invalid_request', `${name}: must be true or false`);
        isExtracted = value === 'true';
        // The form arrives after the call was decided.
        recheckPolicies('with its body', { extract: value });
      },
    },
    knowledgeOf: ({ _id }: FileDocument): FileDocument['knowledge'] => ({
      status: 'queued',
      total: null,
      done: 0,
      failure: null,
      workflow_id: knowledgeUploadWorkflowId(_id),
      ...(isExtracted && { extract: true, authority: authorityOf(principal) }),
    }),
    then: async (kept: FileDocument[]) => void (await Promise.all(kept.map((file) => startKnowledge(deps, file)))),
  };
}

/** Reading the progress is an addition to the specification. */
export const readKnowledgeUpload = defineOperation({
  name: 'knowledge.read',
  ...reads,
  key: z.object({ file_id: Id }),
  output: KnowledgeUpload,
  run: async ({ deps, ctx, key: { file_id } }) =>
    toKnowledgeUpload(deps, await readFile(deps, ctx.principal, file_id), ctx.baseUrl),
});

const namesOfOthers: Record<string, string> = {
  'application/octet-stream': 'an unknown format',
  'application/x-cfb': 'an Office document with a password or of Office 97 to 2003',
};

function refuseOtherTypes({ name, mime_type }: FileDocument): void {
  if (isDocumentType(mime_type)) return;
  const found = namesOfOthers[mime_type] ?? mime_type;
  throw new AppError('validation_failed', `${name}: must be one of ${documentFormats}, not ${found}`);
}

/** @throws AppError `not_found` for a file that was not uploaded to the knowledge base */
export async function toKnowledgeUpload(deps: Deps, file: FileDocument, baseUrl: string): Promise<KnowledgeUpload> {
  if (!file.knowledge) throw notFound('the knowledge upload');
  return { file: await toFile(deps, file, baseUrl), ...toKnowledgeState(file.knowledge) };
}
