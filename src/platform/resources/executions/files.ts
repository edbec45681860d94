import { z } from 'zod';
import type { DocumentReference } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { readFile } from '../files/store.js';

/** A document of an execution: `name` and `content`, or the `file_id` of a file that was uploaded before. */
export const ExecutionFile = z
  .strictObject({
    name: z.string().min(1).max(255).optional(),
    mime_type: z.string().max(255).optional().meta({ description: 'By default `text/plain`.' }),
    content: z.string().optional(),
    file_id: z.string().max(128).optional().meta({ description: 'A file of the project that is ready, in place of the other fields.' }),
  })
  .superRefine(({ file_id, ...inline }, context) => {
    for (const name of ['name', 'content'] as const) {
      if (file_id === undefined && inline[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: 'is missing' });
    }
    const beside = Object.entries(inline).filter(([, value]) => value !== undefined);
    if (file_id !== undefined && beside.length > 0) context.addIssue({ code: 'custom', path: ['file_id'], message: 'stands alone' });
  });
export type ExecutionFile = z.infer<typeof ExecutionFile>;

/** An agent reads all of its documents at once. */
const largestBytes = 5 * 1024 * 1024;

/**
 * Stores what came in the request, and finds what was uploaded.
 * @throws AppError `not_found` for a file of another project, `validation_failed` for one without bytes or too large
 */
export function referToFiles(deps: Deps, principal: Principal, files: readonly ExecutionFile[]): Promise<DocumentReference[]> {
  return Promise.all(
    files.map(async ({ file_id, content = '', ...inline }): Promise<DocumentReference> => {
      if (file_id === undefined) return { name: inline.name ?? '', mime_type: inline.mime_type ?? 'text/plain', location: await deps.blobs.put(Buffer.from(content)) };
      const { name, mime_type, location, status, size_bytes } = await readFile(deps, principal, file_id);
      if (status !== 'ready') throw new AppError('validation_failed', `the file ${file_id} is ${status}`);
      if (size_bytes > largestBytes) throw new AppError('validation_failed', `the file ${file_id} is larger than ${largestBytes} bytes`);
      return { name, mime_type, location, store: 'file' };
    }),
  );
}
