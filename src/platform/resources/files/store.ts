import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import type { FileDocument } from '../../../files/record.js';
import { removeKnowledge } from '../knowledge-base/workflow.js';
import type { File } from './schemas.js';

/** @throws AppError `not_found` for a file that is deleted or of another project */
export async function readFile({ mongo }: Pick<Deps, 'mongo'>, principal: Principal, id: string): Promise<FileDocument> {
  const file = await mongo.collections.files.findOne({ _id: id });
  if (!file || file.status === 'deleted' || file.projectID !== principal.projectId) throw notFound('the file');
  return file;
}

/** The record as the API shows it, with an address that is good from now on. */
export async function toFile({ files }: Pick<Deps, 'files'>, file: FileDocument, baseUrl: string): Promise<File> {
  const { _id, projectID, name, mime_type, location, tags, source_type, container_name, connector_id, uploaded_on, status } = file;
  const size_in_kb = Math.round((file.size_bytes / 1024) * 1000) / 1000;
  const url = await files.urlOf(file, baseUrl);
  return { _id, projectID, name, mime_type, location, tags, source_type, size_in_kb, container_name, url, connector_id, uploaded_on, status };
}

/**
 * Removes a file with its bytes and its chunks. The workflow that writes a file's chunks also takes them away, so that
 * the two never race; it is asked first, and finishes what a killed process leaves here.
 * @throws AppError `conflict` while it is being uploaded
 */
export async function deleteFile(deps: Deps, principal: Principal, id: string): Promise<FileDocument> {
  const file = await readFile(deps, principal, id);
  if (file.status === 'uploading') throw new AppError('conflict', 'the file is being uploaded');
  if (file.knowledge) await removeKnowledge(deps, file);
  await deps.files.end(file, 'deleted');
  return { ...file, status: 'deleted' };
}
