import { z } from 'zod';
import type { DocumentReference } from '../../../../workflows/agentflow-execution/messages.js';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError } from '../../../errors.js';
import { readFile } from '../files/store.js';

const InlineFile = z.strictObject({
  name: z.string().min(1).max(255),
  mime_type: z.string().max(255).default('text/plain'),
  content: z.string(),
});
const FileReference = z.strictObject({ file_id: z.string().max(128).meta({ description: 'A file of the project that is ready.' }) });

/** A document of an execution: in the request, or uploaded before. */
export const ExecutionFile = z.union([InlineFile, FileReference]);
export type ExecutionFile = z.infer<typeof ExecutionFile>;

/** An agent reads all of its documents at once. */
const largestBytes = 5 * 1024 * 1024;

/**
 * Stores what came in the request, and finds what was uploaded.
 * @throws AppError `not_found` for a file of another project, `validation_failed` for one without bytes or too large
 */
export function referToFiles(deps: Deps, principal: Principal, files: readonly ExecutionFile[]): Promise<DocumentReference[]> {
  return Promise.all(
    files.map(async (given): Promise<DocumentReference> => {
      if (!('file_id' in given)) return { name: given.name, mime_type: given.mime_type, location: await deps.blobs.put(Buffer.from(given.content)) };
      const { name, mime_type, location, status, size_bytes } = await readFile(deps, principal, given.file_id);
      if (status !== 'ready') throw new AppError('validation_failed', `the file ${given.file_id} is ${status}`);
      if (size_bytes > largestBytes) throw new AppError('validation_failed', `the file ${given.file_id} is larger than ${largestBytes} bytes`);
      return { name, mime_type, location, store: 'file' };
    }),
  );
}
