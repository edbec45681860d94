import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Principal } from '../auth/principal.js';
import type { Customers } from '../customers/customers.js';
import { AppError, isAppError } from '../errors.js';
import { hasBrokenOff, readMultipart, type IncomingFile } from '../http/multipart.js';
import { newId } from '../ids.js';
import type { Collections } from '../stores/collections.js';
import { safeFileName } from './file-name.js';
import { objectName, type FileStore } from './file-store.js';
import { mimeTypeOf, sniffedBytes } from './mime-type.js';
import { breakOff, discard } from './end-of-life.js';
import type { FileDocument } from './record.js';

export interface ReceiveDeps {
  store: FileStore;
  collections: Collections;
  customers: Customers;
}

/** The bytes of an upload's files, all together (contract, Conventions). */
const uploadLimitBytes = 100 * 1024 * 1024;
/** Boundaries, headers and fields of an upload beside its files' bytes. */
const framingBytes = 1024 * 1024;
/** Storage is reserved as a file grows, in steps, so that a plan's limit stops it early and is never passed by more. */
const reservedAtOnce = 8 * 1024 * 1024;
const limits = { files: 100, fields: 1100, fieldBytes: 64 * 1024 };

export interface Received {
  /** Still `uploading`; each with its bytes stored and counted. */
  files: FileDocument[];
  fields: [name: string, value: string][];
}

/**
 * Streams the files of a multipart body into the store. `accept` sees each file when its type is known. A refusal leaves
 * nothing behind; of an upload that breaks off a `failed` record stays.
 * @throws AppError `payload_too_large`, `plan_limit`, `invalid_request`, and what `accept` throws
 */
export async function receiveFiles(deps: ReceiveDeps, principal: Principal, req: IncomingMessage, accept: (file: FileDocument) => void): Promise<Received> {
  if (Number(req.headers['content-length'] ?? 0) > uploadLimitBytes + framingBytes) throw tooLarge();
  const files: FileDocument[] = [];
  const budget = { left: uploadLimitBytes };
  try {
    const fields = await readMultipart(req, limits, async (incoming) => {
      const file = newFile(principal, incoming.name);
      files.push(file);
      await deps.collections.files.insertOne(file);
      await receiveOne(deps, file, incoming, budget);
      accept(file);
    });
    if (files.length === 0) throw new AppError('invalid_request', 'the body holds no file');
    return { files, fields };
  } catch (error) {
    const isRefusal = isAppError(error) && error.status < 500 && !hasBrokenOff(req);
    await Promise.allSettled(files.map((file) => (isRefusal ? discard(deps, file) : breakOff(deps, file))));
    throw error;
  }
}

/** Fills in size, hash and type as the bytes pass; memory holds the beginning of the file alone. */
async function receiveOne({ store, customers }: ReceiveDeps, file: FileDocument, { stream }: IncomingFile, budget: { left: number }): Promise<void> {
  const hash = createHash('sha256');
  const beginning: Buffer[] = [];
  let [size, sniffed, reserved] = [0, 0, 0];
  async function* metered() {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      budget.left -= chunk.length;
      if (budget.left < 0) throw tooLarge();
      if (size - reserved >= reservedAtOnce) {
        await customers.reserveStorage(file.organization_id, file._id, size);
        reserved = size;
      }
      hash.update(chunk);
      if (sniffed < sniffedBytes) {
        const part = Buffer.from(chunk.subarray(0, sniffedBytes - sniffed));
        beginning.push(part);
        sniffed += part.length;
      }
      yield chunk;
    }
    await customers.reserveStorage(file.organization_id, file._id, size);
  }
  await store.write(file.location, Readable.from(metered(), { objectMode: false }));
  file.size_bytes = size;
  file.sha256 = hash.digest('hex');
  file.mime_type = await mimeTypeOf(Buffer.concat(beginning), size === sniffed, file.name);
}

function newFile({ projectId, organizationId, userId }: Principal, name: string): FileDocument {
  const id = newId();
  return {
    _id: id,
    projectID: projectId,
    organization_id: organizationId,
    user_id: userId,
    name: safeFileName(name),
    mime_type: 'application/octet-stream',
    location: objectName(projectId, id),
    tags: [],
    source_type: 'STORAGE',
    size_bytes: 0,
    sha256: '',
    container_name: projectId,
    connector_id: '',
    uploaded_on: Date.now(),
    status: 'uploading',
    upload_id: null,
    knowledge: null,
  };
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', `the files of an upload are at most ${uploadLimitBytes} bytes`);
}
