import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import type { Principal } from '../auth/principal.js';
import type { SecretBox } from '../auth/secret-box.js';
import type { Config } from '../config.js';
import type { Customers } from '../customers/customers.js';
import { AppError } from '../errors.js';
import type { Idempotency } from '../http/idempotency.js';
import type { Collections } from '../stores/collections.js';
import { createDiskFileStore } from './disk-store.js';
import { discard, end, sweepUploads } from './end-of-life.js';
import { attachment } from './file-name.js';
import type { FileStore } from './file-store.js';
import { receiveFiles, type ReceiveDeps, type Received } from './receive.js';
import type { FileDocument } from './record.js';
import { createS3FileStore } from './s3-store.js';
import { signedPath, urlLifetimeSeconds } from './signed-url.js';

export interface FilesOptions {
  config: Pick<Config, 's3' | 'dataDir'>;
  collections: Collections;
  customers: Customers;
  box: SecretBox;
  idempotency: Idempotency;
}

/** What the caller of an upload decides about its files, beside their bytes. */
export interface Keeping {
  principal: Principal;
  key: string | undefined;
  route: string;
  given: Pick<FileDocument, 'tags' | 'connector_id'>;
  /** What the record of a kept file says of its knowledge upload. */
  knowledgeOf?(file: FileDocument): FileDocument['knowledge'];
  /** Done with the files as they are kept, and again for a repeat after a crash. */
  then?(files: FileDocument[]): Promise<void>;
}

export interface Files {
  store: FileStore;
  /** See {@link receiveFiles}. */
  receive(principal: Principal, req: IncomingMessage, accept?: (file: FileDocument) => void): Promise<Received>;
  /**
   * Makes received files `ready`. With an `Idempotency-Key`, the same files again are dropped for the first ones. When it
   * throws, the caller discards them.
   * @throws AppError `conflict` for the same key with other files
   */
  keep(received: FileDocument[], keeping: Keeping): Promise<FileDocument[]>;
  discard(files: readonly FileDocument[]): Promise<void>;
  /** Time-limited and read only; empty for a file without bytes. */
  urlOf(file: FileDocument, baseUrl: string): Promise<string>;
  /** Takes the bytes of a file away for good. A repeat changes nothing. */
  end(file: FileDocument, status: 'failed' | 'deleted'): Promise<void>;
  sweep(now?: number): Promise<void>;
}

/** Files of projects: in a bucket where one is configured, else below the data folder. */
export function createFiles({ config, collections, customers, box, idempotency }: FilesOptions): Files {
  const store = config.s3 ? createS3FileStore(config.s3) : createDiskFileStore(path.join(config.dataDir, 'files'));
  const deps: ReceiveDeps = { store, collections, customers };
  const discardAll = async (files: readonly FileDocument[]) => void (await Promise.allSettled(files.map((file) => discard(deps, file))));
  return {
    store,
    receive: (principal, req, accept = () => undefined) => receiveFiles(deps, principal, req, accept),
    async keep(received, keeping) {
      const { principal, key, route, given } = keeping;
      if (key === undefined) return commit(collections, received, keeping, null);
      const body = { ...given, files: received.map(({ name, sha256, size_bytes }) => ({ name, sha256, size_bytes })) };
      const ids = await idempotency.once({ key, route, principal, body }, async (uploadId) => {
        // What an earlier request under this key kept before its process died.
        const kept = await collections.files.find({ upload_id: uploadId, status: 'ready' }).sort({ _id: 1 }).toArray();
        if (kept.length === received.length) await keeping.then?.(kept);
        return (kept.length === received.length ? kept : await commit(collections, received, keeping, uploadId)).map(({ _id }) => _id);
      });
      const theirs = ids as string[];
      await discardAll(received.filter(({ _id }) => !theirs.includes(_id)));
      const files = await Promise.all(theirs.map((_id) => collections.files.findOne({ _id })));
      return files.filter((file) => file !== null);
    },
    discard: discardAll,
    async urlOf(file, baseUrl) {
      if (file.status !== 'ready') return '';
      const download = { disposition: attachment(file.name), type: file.mime_type, expiresInSeconds: urlLifetimeSeconds };
      const presigned = await store.presign(file.location, download);
      return presigned ?? baseUrl + signedPath(box, file._id, Math.floor(Date.now() / 1000) + urlLifetimeSeconds);
    },
    end: (file, status) => end(deps, file, status),
    sweep: (now) => sweepUploads(deps, now),
  };
}

/** One write a file; a file that is not `uploading` any more was given up by another process. */
async function commit({ files }: Collections, received: FileDocument[], { given, knowledgeOf, then }: Keeping, uploadId: string | null): Promise<FileDocument[]> {
  const kept = received.map((file): FileDocument => ({ ...file, ...given, knowledge: knowledgeOf?.(file) ?? null, status: 'ready', upload_id: uploadId }));
  const { matchedCount } = await files.bulkWrite(
    kept.map(({ _id, ...fields }) => ({ updateOne: { filter: { _id, status: 'uploading' }, update: { $set: fields } } })),
  );
  if (matchedCount !== kept.length) throw new AppError('conflict', 'the upload took too long and was given up');
  await then?.(kept);
  return kept;
}
