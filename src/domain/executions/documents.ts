import { buffer } from 'node:stream/consumers';
import { decodeText, expectedEncodings, withoutControls } from '../../base/encodings.js';
import { AppError, isAppError } from '../../base/errors.js';
import { formattedFormats, isFormattedDocument } from '../files/rules.js';
import type { FileStore } from '../../stores/file-store.js';
import type { EncryptedBlobStore } from '../../stores/encrypted-blobs.js';
import {
  maxKeptCharacters,
  type Document,
  type DocumentReference,
} from '../../../workflows/agentflow-execution/messages.js';

/** @throws AppError `validation_failed` for a document that cannot be read within the limits */
interface Reading {
  /** The organization of the run. */
  owner: string;
  signal: AbortSignal;
}

type ExtractText = (as: 'text', bytes: Uint8Array, mimeType: string, reading: Reading) => Promise<string>;

export interface DocumentStores {
  blobs: Pick<EncryptedBlobStore, 'get'>;
  files: Pick<FileStore, 'read'>;
  extract: ExtractText;
}

const textType = /^(text\/[\w.+-]+|application\/(json|yaml|xml|[\w.-]+\+(json|xml)))$/;

/** Whether the text of a document can be extracted for agents. */
export function isReadableDocument(mimeType: string): boolean {
  return textType.test(mimeType) || isFormattedDocument(mimeType);
}

/** Reads the documents of an execution as text. @throws AppError `validation_failed` (type, encoding, size) */
export async function readDocuments(
  stores: DocumentStores,
  files: readonly DocumentReference[],
  reading: Reading,
): Promise<Document[]> {
  const documents: Document[] = [];
  let characters = 0;
  for (const file of files) {
    reading.signal.throwIfAborted();
    const document = await read(stores, file, reading);
    documents.push(document);
    characters += document.text.length;
    if (characters > maxKeptCharacters)
      throw new AppError(
        'validation_failed',
        `the documents of this execution are larger than ${maxKeptCharacters} characters`,
      );
  }
  return documents;
}

async function read(
  { blobs, files, extract }: DocumentStores,
  { name, mime_type, location, store }: DocumentReference,
  reading: Reading,
): Promise<Document> {
  const type = mime_type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!isReadableDocument(type))
    throw new AppError(
      'validation_failed',
      `the document "${name}" must be text, ${formattedFormats}, not ${mime_type}`,
    );
  const bytes = store === 'file' ? await buffer(await files.read(location)) : await blobs.get(location);
  const text = isFormattedDocument(type)
    ? await extractedText(extract, name, type, bytes, reading)
    : await textOf(name, bytes);
  return { name, mime_type, text };
}

async function textOf(name: string, bytes: Uint8Array): Promise<string> {
  const decoded = await decodeText(bytes);
  if (decoded) return withoutControls(decoded.text);
  throw new AppError('validation_failed', `the document "${name}" is not ${expectedEncodings}`);
}

async function extractedText(
  extract: ExtractText,
  name: string,
  type: string,
  bytes: Uint8Array,
  reading: Reading,
): Promise<string> {
  try {
    return await extract('text', bytes, type, reading);
  } catch (error) {
    if (isAppError(error)) throw new AppError(error.code, `the document "${name}": ${error.message}`, { cause: error });
    throw error;
  }
}
