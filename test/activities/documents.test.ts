import { describe, expect, test } from '@jest/globals';
import { createDocumentActivities } from '../../activities/agentflow-execution.js';
import { createExtraction } from '../../src/domain/knowledge/extraction.js';
import { AppError } from '../../src/base/errors.js';
import type { BlobStore } from '../../src/stores/blobs.js';
import type { AgentflowExecutionActivities } from '../../workflows/agentflow-execution/activities.js';
import type { Document } from '../../workflows/agentflow-execution/messages.js';
import { pdfOf } from '../surfaces/platform/knowledge-base/documents.js';
import type { StepResult } from '../../workflows/agentflow-execution/steps/definition.js';
import type { ReadDocumentsRequest } from '../../workflows/agentflow-execution/steps/documents.js';
import { verifies } from '../support/verifies.js';
import { noExchanges } from '../support/exchanges.js';
import { activityEnvironment } from '../support/activity-environment.js';

function storeOf(entries: Record<string, Uint8Array>): BlobStore {
  return {
    put: () => Promise.reject(new Error('nothing is written here')),
    remove: () => Promise.reject(new Error('nothing is removed here')),
    get: async (location) => {
      const bytes = entries[location];
      if (!bytes) throw new AppError('not_found', 'no such stored document');
      return Buffer.from(bytes);
    },
  };
}

const store = storeOf({
  utf8: Buffer.from('grüß\nGott'),
  marked: Buffer.from('\uFEFFtext'),
  binary: Buffer.from([1, 2, 3, 0, 255]),
  empty: new Uint8Array(),
});

function read(files: [string, string][], blobs = store, attempt = 1) {
  const { readDocuments } = createDocumentActivities(
    {
      blobs,
      extract: createExtraction(),
      files: { read: () => Promise.reject(new Error('no uploaded file is read here')) },
    },
    noExchanges,
  );
  const references = files.map(([location, mime_type]) => ({ name: `${location}.file`, mime_type, location }));
  return activityEnvironment(attempt).run<
    [ReadDocumentsRequest],
    StepResult<Document[]>,
    AgentflowExecutionActivities['readDocuments']
  >(readDocuments, { idempotency_key: 'execution/documents', files: references });
}

describe('readDocuments', () => {
  test('returns the text of each file in order', async () => {
    const { value, attempts } = await read(
      [
        ['utf8', 'text/markdown; charset=utf-8'],
        ['marked', 'Application/JSON'],
        ['empty', 'text/html'],
      ],
      store,
      2,
    );
    expect(value.map(({ name, text }) => [name, text])).toEqual([
      ['utf8.file', 'grüß\nGott'],
      ['marked.file', 'text'],
      ['empty.file', ''],
    ]);
    expect(attempts).toBe(2);
  });

  test.each([
    ['bytes that are not text', 'binary', 'text/plain', 'validation_failed', /"binary\.file" is not text in UTF-8/],
    [
      'a type that is neither text nor PDF',
      'utf8',
      'image/png',
      'validation_failed',
      /"utf8\.file" must be text, PDF, DOCX/,
    ],
    ['a PDF that is damaged', 'utf8', 'application/pdf', 'validation_failed', /"utf8\.file": the PDF cannot be read/],
    ['no type', 'utf8', '', 'validation_failed', /"utf8\.file"/],
    ['a file that was deleted', 'gone', 'text/plain', 'not_found', /no such stored document/],
  ])('refuses %s permanently', async (_, location, mime, type, message) => {
    await expect(read([[location, mime]])).rejects.toMatchObject({
      type,
      nonRetryable: true,
      details: [{ attempt: 1 }],
      message: expect.stringMatching(message),
    });
  });

  test('returns the text of a PDF page by page', async () => {
    verifies('execution.pdf-documents');
    const { value } = await read(
      [['pdf', 'application/pdf']],
      storeOf({ pdf: pdfOf(['Hello first', 'And the second']) }),
    );
    expect(value[0]?.text).toBe('Hello first\n\nAnd the second');
  });

  test('stops at the size limit of a run before it reads the rest', async () => {
    const reads: string[] = [];
    const large: BlobStore = {
      ...store,
      get: async (location) => {
        reads.push(location);
        return Buffer.alloc(1_500_000, 'x');
      },
    };
    const files = ['one', 'two', 'three', 'four'].map((name): [string, string] => [name, 'text/plain']);
    await expect(read(files, large)).rejects.toMatchObject({
      type: 'validation_failed',
      nonRetryable: true,
      message: expect.stringContaining('2097152'),
    });
    expect(reads).toEqual(['one', 'two']);
  });

  test('is retried after a fault of the store and does not reveal its text', async () => {
    const failing: BlobStore = { ...store, get: () => Promise.reject(new Error('EIO /var/secret/path')) };
    const failure = read([['utf8', 'text/plain']], failing, 3);
    await expect(failure).rejects.toMatchObject({
      type: 'internal_error',
      nonRetryable: false,
      details: [{ attempt: 3 }],
    });
    await expect(failure).rejects.not.toThrow('secret');
  });
});
