import { z } from 'zod';
import type { Principal } from '../../../auth/principal.js';
import type { Deps } from '../../../deps.js';
import { AppError, notFound } from '../../../errors.js';
import type { FileDocument } from '../../../files/record.js';

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

const projectNames = ['projectID', 'projectId', 'project_id'];
const Tags = z.array(z.string().trim().min(1).max(200).refine((text) => !text.includes('\0'), 'holds a NUL')).max(100);

/**
 * The fields of an upload as they apply to its files.
 * @throws AppError `invalid_request` naming an unknown or ill-formed field, `not_found` for a connector of another project
 */
export async function uploadFields(
  { mongo: { collections } }: Pick<Deps, 'mongo'>,
  principal: Principal,
  fields: readonly [name: string, value: string][],
): Promise<Pick<FileDocument, 'tags' | 'connector_id'>> {
  const valuesOf = (...names: string[]) => fields.filter(([name]) => names.includes(name)).map(([, value]) => value);
  const unknown = fields.map(([name]) => name).filter((name) => !['tags', 'connector_id', ...projectNames].includes(name));
  if (unknown.length > 0) throw new AppError('invalid_request', `Unrecognized fields: ${[...new Set(unknown)].slice(0, 20).join(', ').slice(0, 500)}`);
  if (valuesOf(...projectNames).some((value) => value !== principal.projectId)) throw new AppError('invalid_request', 'projectID: path, query and body do not agree');
  const [connector_id = '', ...others] = [...new Set(valuesOf('connector_id'))];
  if (others.length > 0) throw new AppError('invalid_request', 'connector_id: is given twice');
  const tags = Tags.safeParse([...new Set(valuesOf('tags').flatMap(tagsOf))]);
  if (!tags.success) throw new AppError('invalid_request', `tags: ${tags.error.issues[0]?.message ?? 'are not texts'}`);
  if (connector_id !== '') {
    const connector = await collections.connectors.findOne({ _id: connector_id });
    if (!connector || connector.is_deleted || connector.projectID !== principal.projectId) throw notFound('the connector');
  }
  return { tags: tags.data, connector_id };
}

/** A field holds one tag, or a JSON array of them. */
function tagsOf(value: string): unknown[] {
  if (!value.trimStart().startsWith('[')) return value.trim() === '' ? [] : [value];
  try {
    return JSON.parse(value) as unknown[];
  } catch {
    return [value];
  }
}
