import type { Deps } from '../../../deps.js';
import type { FileDocument } from '../../../files/record.js';
import type { RequestContext } from '../../../http/context.js';
import { uploadFields } from './schemas.js';

export interface UploadRules {
  /** Throws for a file that this upload does not take, as soon as its type is known. */
  accept?(file: FileDocument): void;
  knowledgeOf?(file: FileDocument): FileDocument['knowledge'];
  /** Done with the files as they are kept; may be repeated. */
  then?(files: FileDocument[]): Promise<void>;
}

/** Receives the files of a request and keeps all of them or none. */
export async function upload(deps: Deps, { principal, req, idempotencyKey }: RequestContext, rules: UploadRules = {}): Promise<FileDocument[]> {
  const { files, fields } = await deps.files.receive(principal, req, rules.accept);
  try {
    const given = await uploadFields(deps, principal, fields);
    const route = `${req.method.toLowerCase()} ${req.path}`;
    return await deps.files.keep(files, { principal, key: idempotencyKey, route, given, ...rules });
  } catch (error) {
    await deps.files.discard(files);
    throw error;
  }
}
