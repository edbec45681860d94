import { z } from 'zod';

export const File = z
  .object({
    _id: z.string(),
    projectID: z.string(),
    name: z.string(),
    mime_type: z.string().meta({ description: 'What the bytes are, whatever the sender called them.' }),
    location: z.string().meta({ description: 'The storage object name.' }),
    tags: z.array(z.string()),
    source_type: z.string(),
    size_in_kb: z.number(),
    container_name: z.string(),
    url: z.string().meta({ description: 'Downloads the file for an hour, read only; made anew at each read, empty without bytes.' }),
    connector_id: z.string().meta({ description: 'Empty where the file belongs to none.' }),
    uploaded_on: z.int().meta({ description: 'Epoch milliseconds.' }),
    status: z.enum(['uploading', 'ready', 'failed', 'deleted']),
  })
  .meta({
    id: 'File',
    example: {
      _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10',
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
      status: 'ready',
    },
  });
export type File = z.infer<typeof File>;

/** The parts of an upload; files may stand under any name and as often as wanted. */
export const UploadForm = z
  .object({
    file: z.array(z.string().meta({ format: 'binary' })),
    tags: z.array(z.string()).optional().meta({ description: 'Repeated, or once as a JSON array.' }),
    connector_id: z.string().optional().meta({ description: 'A connector of the project that the files belong to.' }),
    projectID: z.string().optional(),
  })
  .meta({ id: 'Upload', example: { file: ['…'], tags: ['2026', 'reports'] } });
