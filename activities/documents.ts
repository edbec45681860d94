import { buffer } from 'node:stream/consumers';
import { AppError } from '../src/errors.js';
import type { FileStore } from '../src/files/file-store.js';
import type { BlobStore } from '../src/stores/blobs.js';
import type { AgentflowExecutionActivities } from '../workflows/agentflow-execution/activities.js';
import { keptAtMost, type Document, type DocumentReference } from '../workflows/agentflow-execution/messages.js';
import { asStep } from './step.js';

const readableTypes = /^(text\/[\w.+-]+|application\/(json|xhtml\+xml|[\w.-]+\+json))$/;

export interface DocumentStores {
  blobs: BlobStore;
  files: Pick<FileStore, 'read'>;
}

/** The documents of an execution as text. */
export function createDocumentActivities(stores: DocumentStores): Pick<AgentflowExecutionActivities, 'readDocuments'> {
  return {
    readDocuments: ({ files }) =>
      asStep(async (signal) => {
        const documents: Document[] = [];
        let characters = 0;
        for (const file of files) {
          signal.throwIfAborted();
          const document = await read(stores, file);
          documents.push(document);
          characters += document.text.length;
          if (characters > keptAtMost) throw new AppError('validation_failed', `the documents of this execution are larger than ${keptAtMost} characters`);
        }
        return documents;
      }),
  };
}

async function read({ blobs, files }: DocumentStores, { name, mime_type, location, store }: DocumentReference): Promise<Document> {
  const type = mime_type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!readableTypes.test(type)) throw new AppError('validation_failed', `the document "${name}" is no text: ${mime_type}`);
  const bytes = store === 'file' ? await buffer(await files.read(location)) : await blobs.get(location);
  try {
    return { name, mime_type, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    throw new AppError('validation_failed', `the document "${name}" is not text in UTF-8`, { cause: error });
  }
}
