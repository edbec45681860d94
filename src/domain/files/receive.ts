import type { FileDeps } from './file-deps.js';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Principal } from '../../auth/principal.js';
import { AppError, isRefusal } from '../../base/errors.js';
import { clientDisconnected, readMultipart } from '../../http/multipart.js';
import { newId } from '../../base/ids.js';
import { safeFileName } from './file-name.js';
import { objectName } from '../../stores/file-store.js';
import { sniffedBytes, typeOf } from './mime-type.js';
import { deleteContent, discard } from './end-of-life.js';
import type { FileDocument } from './record.js';

/** For all files of an upload together (contract, Conventions). */
const maxUploadBytes = 100 * 1024 * 1024;
/** Additional bytes for the boundaries, headers and fields of an upload. */
const framingBytes = 1024 * 1024;
/** Storage is reserved in steps while a file is received, so that an upload over the plan's limit stops early. */
const reservationStepBytes = 8 * 1024 * 1024;
/** The fields are small: at most 100 tags, one by one or as a JSON array, and a few ids. */
const limits = { files: 100, fields: 200, fieldBytes: 64 * 1024, allFieldsBytes: 128 * 1024 };

export interface Received {
  /** In status `uploading`, with their content stored and counted. */
  files: FileDocument[];
  fields: [name: string, value: string][];
}

/**
 * Streams the files of a multipart body into the store. Calls `accept` for each file when its type is known. A refused
 * upload leaves nothing behind; an interrupted upload leaves `failed` records.
 * @throws AppError `payload_too_large`, `plan_limit`, `invalid_request`, and what `accept` throws
 */
export async function receiveFiles(
  deps: FileDeps,
  principal: Principal,
  req: IncomingMessage,
  accept: (file: FileDocument) => void,
): Promise<Received> {
  if (Number(req.headers['content-length'] ?? 0) > maxUploadBytes + framingBytes) throw tooLarge();
  const files: FileDocument[] = [];
  const budget = { left: maxUploadBytes };
  try {
    const fields = await readMultipart(req, limits, async (incoming) => {
      const file = newFile(principal, incoming.name);
      files.push(file);
      await deps.collections.files.insertOne(file);
      await receiveOne(deps, file, incoming.stream, budget);
      accept(file);
    });
    if (files.length === 0) throw new AppError('invalid_request', 'the body must contain at least one file');
    return { files, fields };
  } catch (error) {
    const wasRefused = isRefusal(error) && !clientDisconnected(req);
    await Promise.allSettled(
      files.map((file) => (wasRefused ? discard(deps, file) : deleteContent(deps, file, 'failed'))),
    );
    throw error;
  }
}

/** Stores contents that are in memory, as `uploading`. If one fails, none is left. @throws AppError `plan_limit` */
export async function storeContents(
  deps: FileDeps,
  principal: Principal,
  contents: readonly { name: string; content: Buffer }[],
): Promise<FileDocument[]> {
  const files: FileDocument[] = [];
  try {
    for (const { name, content } of contents) {
      const file = newFile(principal, name);
      files.push(file);
      await deps.collections.files.insertOne(file);
      await receiveOne(deps, file, Readable.from([content]), { left: maxUploadBytes });
    }
    return files;
  } catch (error) {
    await Promise.allSettled(files.map((file) => discard(deps, file)));
    throw error;
  }
}

/** Sets size, hash and type while streaming. Keeps only the start of the file in memory. */
async function receiveOne(
  { store, customers }: FileDeps,
  file: FileDocument,
  stream: AsyncIterable<Uint8Array>,
  budget: { left: number },
): Promise<void> {
  const hash = createHash('sha256');
  const beginning: Buffer[] = [];
  let [size, sniffed, reserved] = [0, 0, 0];
  async function* metered() {
    for await (const chunk of stream) {
      size += chunk.length;
      budget.left -= chunk.length;
      if (budget.left < 0) throw tooLarge();
      if (size - reserved >= reservationStepBytes) {
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
  const { mimeType, charset } = await typeOf(Buffer.concat(beginning), size === sniffed, file.name);
  file.mime_type = mimeType;
  file.charset = charset;
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
    charset: null,
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
  return new AppError('payload_too_large', `the files of an upload must not exceed ${maxUploadBytes} bytes in total`);
}
