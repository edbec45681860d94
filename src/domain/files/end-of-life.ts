import type { FileDeps } from './file-deps.js';
import type { FileDocument, FileStatus } from './record.js';

/** Longer than the server's request timeout: the process of a file that is still `uploading` then has crashed. */
export const maxUploadMs = 15 * 60_000;

/** Deletes the content and the record of a refused file. */
export async function discard(deps: FileDeps, file: FileDocument): Promise<void> {
  await removeBytes(deps, file);
  await deps.collections.files.deleteOne({ _id: file._id });
}

/**
 * Deletes the content, releases its storage and then updates the record, so that a repeat completes it after a crash. An
 * interrupted upload is `failed`.
 */
export async function deleteContent(
  deps: FileDeps,
  file: FileDocument,
  status: Extract<FileStatus, 'failed' | 'deleted'>,
): Promise<void> {
  await removeBytes(deps, file);
  await deps.collections.files.updateOne({ _id: file._id }, { $set: { status } });
}

async function removeBytes(
  { store, customers }: FileDeps,
  { location, organization_id, _id }: FileDocument,
): Promise<void> {
  await store.remove(location);
  await customers.releaseStorage(organization_id, _id);
}

/** Completes or fails the uploads whose process has crashed. */
export async function sweepUploads(deps: FileDeps, now = Date.now()): Promise<void> {
  const lost = await deps.collections.files
    .find({ status: 'uploading', uploaded_on: { $lt: now - maxUploadMs } })
    .limit(1000)
    .toArray();
  // A failure must not prevent the work on the other uploads.
  const failures: unknown[] = [];
  for (const file of lost) await endUpload(deps, file).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function endUpload(deps: FileDeps, file: FileDocument): Promise<void> {
  if (await isKept(deps, file))
    await deps.collections.files.updateOne({ _id: file._id, status: 'uploading' }, { $set: { status: 'ready' } });
  else await deleteContent(deps, file, 'failed');
}

/** Whether any file of the upload became `ready` before the crash, which means that all of them are complete. */
async function isKept({ collections: { files } }: FileDeps, { kept_with = [] }: FileDocument): Promise<boolean> {
  return (await files.findOne({ _id: { $in: kept_with }, status: 'ready' })) !== null;
}
