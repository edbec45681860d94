import { z } from 'zod';
import type { DocumentReference } from '../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../auth/principal.js';
import type { Deps } from '../deps.js';
import { AppError } from '../../base/errors.js';
import { formattedFormats } from '../files/rules.js';
import { isReadableDocument } from './documents.js';
import { readFile } from '../files/operations.js';

/** A document of an execution: `name` and `content`, or the `file_id` of an uploaded file. */
export const ExecutionFile = z
  .strictObject({
    name: z.string().min(1).max(255).optional(),
    mime_type: z.string().max(255).optional().describe('Defaults to `text/plain`.'),
    content: z.string().optional(),
    file_id: z
      .string()
      .max(128)
      .optional()
      .describe('A file of the project with status `ready`, instead of the other fields.'),
  })
  .superRefine(({ file_id, ...inline }, context) => {
    for (const name of ['name', 'content'] as const) {
      if (file_id === undefined && inline[name] === undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'is required' });
    }
    const conflicting = Object.entries(inline).filter(([, value]) => value !== undefined);
    if (file_id !== undefined && conflicting.length > 0)
      context.addIssue({ code: 'custom', path: ['file_id'], message: 'must not be combined with other fields' });
  });
export type ExecutionFile = z.infer<typeof ExecutionFile>;

/** Each agent reads all documents at once. */
const maxDocumentBytes = 5 * 1024 * 1024;

/**
 * Stores inline documents and looks up uploaded files.
 * @throws AppError `not_found` for a file of another project; `validation_failed` for a file that is not ready, too large, or neither text nor PDF
 */
export function referToFiles(
  deps: Deps,
  principal: Principal,
  files: readonly ExecutionFile[],
): Promise<DocumentReference[]> {
  return Promise.all(
    files.map(async ({ file_id, content = '', ...inline }): Promise<DocumentReference> => {
      if (file_id === undefined)
        return {
          name: inline.name ?? '',
          mime_type: inline.mime_type ?? 'text/plain',
          location: await deps.blobs.put(Buffer.from(content), principal.organizationId),
        };
      const { name, mime_type, location, status, size_bytes } = await readFile(deps, principal, file_id);
      if (status !== 'ready')
        throw new AppError('validation_failed', `the file ${file_id} must be ready, but is ${status}`);
      if (size_bytes > maxDocumentBytes)
        throw new AppError('validation_failed', `the file ${file_id} must not exceed ${maxDocumentBytes} bytes`);
      if (!isReadableDocument(mime_type))
        throw new AppError(
          'validation_failed',
          `the file ${file_id} must be text, ${formattedFormats}, not ${mime_type}`,
        );
      return { name, mime_type, location, store: 'file' };
    }),
  );
}
