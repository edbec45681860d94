import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { knowledgeUploadWorkflowId } from '../../../workflows/knowledge-upload/messages.js';
import type { Authority } from '../../auth/authority.js';
import { exampleId } from '../../base/ids.js';

/** The progress of a knowledge upload. `total` is null until the text is extracted. */
export interface KnowledgeProgress {
  status: 'queued' | 'running' | 'completed' | 'failed' | 'removed';
  total: number | null;
  done: number;
  failure: string | null;
  workflow_id: string;
  /** Whether the facts of the document are extracted as well. */
  extract?: true;
  /** In whose name the facts are written. Only with `extract`. */
  authority?: Authority;
  memory_id?: string;
  /** Why the facts could not be extracted. */
  extract_failure?: string;
}

/** `uploading` → `ready` → `deleted`, or `failed` for an interrupted upload or an unreadable document. Only `ready` files have content. */
export type FileStatus = 'uploading' | 'ready' | 'failed' | 'deleted';

/** The record of a file (specification, File). `url` and `size_in_kb` are computed on each read. */
export interface FileDocument extends Omit<File, 'size_in_kb' | 'url'> {
  organization_id: string;
  user_id: string;
  size_bytes: number;
  sha256: string;
  /** The encoding of text, for downloads. Null if it is unknown. */
  charset: string | null;
  status: FileStatus;
  /** The ids of all files of the same upload. All of them become `ready`, or none. */
  kept_with?: string[];
  /** The idempotent request that stored it. Null without an `Idempotency-Key`. */
  upload_id: string | null;
  knowledge: KnowledgeProgress | null;
}

export const filesCollection = defineCollection('files', {
  indexes: [
    { keys: { projectID: 1, connector_id: 1, _id: -1 } },
    { keys: { projectID: 1, _id: -1 } },
    { keys: { upload_id: 1 } },
    { keys: { status: 1, uploaded_on: 1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    files: FileDocument;
  }
}

const exampleFile = {
  _id: exampleId,
  projectID: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a11',
  name: 'report.pdf',
  mime_type: 'application/pdf',
  location: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a11/0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
  tags: ['2026'],
  source_type: 'STORAGE',
  size_in_kb: 41.25,
  container_name: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a11',
  url: 'https://svc.example.com/files/content/0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10?expires=1790000000&signature=m3…',
  connector_id: '',
  uploaded_on: 1_790_000_000_000,
  status: 'ready' as const,
};

export const File = z
  .object({
    _id: z.string(),
    projectID: z.string(),
    name: z.string(),
    mime_type: z.string().describe('Detected from the content.'),
    location: z.string().describe('The storage object name.'),
    tags: z.array(z.string()),
    source_type: z.string(),
    size_in_kb: z.number(),
    container_name: z.string(),
    url: z
      .string()
      .describe(
        'A download URL that is valid for an hour. Each read returns a new one. Empty if the file has no content.',
      ),
    connector_id: z.string().describe('Empty if the file does not belong to a connector.'),
    uploaded_on: z.int().describe('Epoch milliseconds.'),
    status: z.enum(['uploading', 'ready', 'failed', 'deleted']),
  })
  .meta({ id: 'File', example: exampleFile });
export type File = z.infer<typeof File>;

/** The progress of a document of the knowledge base. */
export const KnowledgeState = z.object({
  workflow_id: z.string().meta({ example: knowledgeUploadWorkflowId(exampleId) }),
  status: z.enum(['queued', 'running', 'completed', 'failed', 'removed']).meta({ example: 'completed' }),
  chunks: z.object({
    done: z.int().describe('Number of chunks in the graph.').meta({ example: 3 }),
    total: z.int().nullable().describe('Null until the text is extracted.').meta({ example: 3 }),
  }),
  failure: z.string().nullable().describe('Why the document could not be read.').meta({ example: null }),
  memory_id: z.string().nullable().describe('The memory that extracts its facts.').meta({ example: null }),
  extract_failure: z.string().nullable().describe('Why its facts are not extracted.').meta({ example: null }),
});

export const ListedFile = z
  .object({
    ...File.shape,
    knowledge: KnowledgeState.nullable().describe('Null if the file was not uploaded to the knowledge base.'),
  })
  .meta({ id: 'ListedFile', example: { ...exampleFile, knowledge: null } });

export function toKnowledgeState(progress: KnowledgeProgress): z.infer<typeof KnowledgeState> {
  const { workflow_id, status, done, total, failure, memory_id = null, extract_failure = null } = progress;
  return { workflow_id, status, chunks: { done, total }, failure, memory_id, extract_failure };
}

/** The form fields of an upload. File fields may have any name and may be repeated.  */
export const UploadForm = z
  .object({
    file: z.array(z.string().meta({ format: 'binary' })),
    tags: z.array(z.string()).optional().describe('Repeat the field for several tags, or send a JSON array.'),
    connector_id: z.string().optional().describe('A connector of the project, to which the files will belong.'),
    projectID: z.string().optional(),
  })
  .meta({ id: 'Upload', example: { file: ['…'], tags: ['2026', 'reports'] } });
