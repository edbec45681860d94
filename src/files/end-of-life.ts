import type { Logger } from '../log.js';
import type { ReceiveDeps } from './receive.js';
import type { FileDocument, FileStatus } from './record.js';

/** Longer than the server lets a request take: what is still `uploading` then has lost its process. */
export const longestUploadMs = 15 * 60_000;
const sweepEveryMs = 5 * 60_000;

/** Leaves nothing of a file that was refused. */
export async function discard(deps: ReceiveDeps, file: FileDocument): Promise<void> {
  await removeBytes(deps, file);
  await deps.collections.files.deleteOne({ _id: file._id });
}

/** The record tells that the upload broke off. */
export async function breakOff(deps: ReceiveDeps, file: FileDocument): Promise<void> {
  await end(deps, file, 'failed');
}

/**
 * Takes the bytes away and gives their storage back, then says so in the record: a repeat after a crash goes on.
 */
export async function end(deps: ReceiveDeps, file: FileDocument, status: Extract<FileStatus, 'failed' | 'deleted'>): Promise<void> {
  await removeBytes(deps, file);
  await deps.collections.files.updateOne({ _id: file._id }, { $set: { status } });
}

async function removeBytes({ store, customers }: ReceiveDeps, { location, organization_id, _id }: FileDocument): Promise<void> {
  await store.remove(location);
  await customers.releaseStorage(organization_id, _id);
}

/** Ends the uploads whose process was killed. */
export async function sweepUploads(deps: ReceiveDeps, now = Date.now()): Promise<void> {
  const lost = await deps.collections.files.find({ status: 'uploading', uploaded_on: { $lt: now - longestUploadMs } }).limit(1000).toArray();
  for (const file of lost) await breakOff(deps, file);
}

/** Every few minutes until the process stops: the one that was killed may not start again. */
export function sweepRegularly(sweep: () => Promise<void>, { log, stopping }: { log: Logger; stopping: AbortController }): void {
  const timer = setInterval(() => void sweep().catch((error: unknown) => log.warn({ err: error }, 'broken uploads could not be swept')), sweepEveryMs);
  timer.unref();
  stopping.signal.addEventListener('abort', () => clearInterval(timer));
}
