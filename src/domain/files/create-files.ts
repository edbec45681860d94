import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import type { Principal } from '../../auth/principal.js';
import type { SecretBox } from '../../auth/secret-box.js';
import type { Config } from '../../config.js';
import type { Customers } from '../customers/record.js';
import { AppError } from '../../base/errors.js';
import type { Idempotency } from '../../governance/idempotency.js';
import type { Collections } from '../../stores/collections.js';
import { createDiskFileStore } from '../../stores/disk-file-store.js';
import { deleteContent, discard, sweepUploads } from './end-of-life.js';
import { attachment } from './file-name.js';
import type { FileStore } from '../../stores/file-store.js';
import { contentTypeOf } from './mime-type.js';
import { receiveFiles, storeContents, type Received } from './receive.js';
import type { FileDeps } from './file-deps.js';
import type { FileDocument } from './record.js';
import { createS3FileStore } from '../../stores/s3-file-store.js';
import { signedPath, urlLifetimeSeconds } from './signed-url.js';

interface FilesOptions {
  config: Pick<Config, 's3' | 'dataDir'>;
  collections: Collections;
  customers: Customers;
  box: SecretBox;
  idempotency: Idempotency;
}

/** How the caller of an upload wants its files to be stored. */
interface KeepOptions {
  principal: Principal;
  key: string | undefined;
  route: string;
  fields: Pick<FileDocument, 'tags' | 'connector_id'>;
  /** The initial knowledge progress of a stored file. */
  knowledgeOf?(file: FileDocument): FileDocument['knowledge'];
  /** Called with the stored files, and again for a repeat after a crash. */
  then?(files: FileDocument[]): Promise<void>;
}

export interface Files {
  store: FileStore;
  /** See {@link receiveFiles}. */
  receive(principal: Principal, req: IncomingMessage, accept?: (file: FileDocument) => void): Promise<Received>;
  /** See {@link storeContents}. */
  storeContents(principal: Principal, contents: readonly { name: string; content: Buffer }[]): Promise<FileDocument[]>;
  /**
   * Sets the status of received files to `ready`. If an earlier request with the same `Idempotency-Key` stored the same
   * files, discards the new ones and returns the stored ones. If it throws, the caller must discard the files.
   * @throws AppError `conflict` if the key was used with other files
   */
  keep(received: FileDocument[], options: KeepOptions): Promise<FileDocument[]>;
  discard(files: readonly FileDocument[]): Promise<void>;
  /** A download URL that expires. Empty for a file without content. */
  urlOf(file: FileDocument, baseUrl: string): Promise<string>;
  /** Permanently deletes the content of a file. Idempotent. */
  deleteContent(file: FileDocument, status: 'failed' | 'deleted'): Promise<void>;
  sweep(now?: number): Promise<void>;
}

/** Stores files in the S3 bucket if one is configured, otherwise in the data folder. */
export function createFiles({ config, collections, customers, box, idempotency }: FilesOptions): Files {
  const store = config.s3 ? createS3FileStore(config.s3) : createDiskFileStore(path.join(config.dataDir, 'files'));
  const deps: FileDeps = { store, collections, customers };
  const discardAll = async (files: readonly FileDocument[]) =>
    void (await Promise.allSettled(files.map((file) => discard(deps, file))));
  return {
    store,
    receive: (principal, req, accept = () => undefined) => receiveFiles(deps, principal, req, accept),
    storeContents: (principal, contents) => storeContents(deps, principal, contents),
    async keep(received, options) {
      const { principal, key, route, fields: given } = options;
      if (key === undefined) return commit(collections, received, options, null);
      const body = { ...given, files: received.map(({ name, sha256, size_bytes }) => ({ name, sha256, size_bytes })) };
      const { value: ids } = await idempotency.once({ key, route, principal, body }, async (uploadId) => {
        // Files that an earlier request with this key stored before its process crashed.
        const kept = await collections.files.find({ upload_id: uploadId, status: 'ready' }).sort({ _id: 1 }).toArray();
        if (kept.length === received.length) await options.then?.(kept);
        const files = kept.length === received.length ? kept : await commit(collections, received, options, uploadId);
        return { value: files.map(({ _id }) => _id) };
      });
      const keptIds = ids as string[];
      await discardAll(received.filter(({ _id }) => !keptIds.includes(_id)));
      const files = await Promise.all(keptIds.map((_id) => collections.files.findOne({ _id })));
      return files.filter((file) => file !== null);
    },
    discard: discardAll,
    async urlOf(file, baseUrl) {
      if (file.status !== 'ready') return '';
      const download = {
        disposition: attachment(file.name),
        type: contentTypeOf(file),
        expiresInSeconds: urlLifetimeSeconds,
      };
      const presigned = await store.presign(file.location, download);
      return presigned ?? baseUrl + signedPath(box, file._id, Math.floor(Date.now() / 1000) + urlLifetimeSeconds);
    },
    deleteContent: (file, status) => deleteContent(deps, file, status),
    sweep: (now) => sweepUploads(deps, now),
  };
}

/**
 * Makes all files `ready`, or none. Each record lists all files of the upload before the first one becomes `ready`, so that
 * the sweep can complete the upload after a crash. A file that is no longer `uploading` was swept by another process.
 */
async function commit(
  { files }: Collections,
  received: FileDocument[],
  { fields: given, knowledgeOf, then }: KeepOptions,
  uploadId: string | null,
): Promise<FileDocument[]> {
  const kept_with = received.map(({ _id }) => _id);
  const kept = received.map((file): FileDocument => ({
    ...file,
    ...given,
    knowledge: knowledgeOf?.(file) ?? null,
    kept_with,
    upload_id: uploadId,
  }));
  const prepared = await files.bulkWrite(
    kept.map(({ _id, status, ...fields }) => ({ updateOne: { filter: { _id, status }, update: { $set: fields } } })),
  );
  const updated =
    prepared.matchedCount === kept.length
      ? await files.updateMany({ _id: { $in: kept_with }, status: 'uploading' }, { $set: { status: 'ready' } })
      : prepared;
  if (updated.matchedCount !== kept.length)
    throw new AppError('conflict', 'the upload took too long and was cancelled');
  for (const file of kept) file.status = 'ready';
  await then?.(kept);
  return kept;
}
