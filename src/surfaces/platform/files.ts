import { z } from 'zod';
import { download } from '../../domain/files/download.js';
import * as files from '../../domain/files/operations.js';
import { defineRoute, routesOf, type Route } from '../rest/define-route.js';
import { upload } from './upload.js';
import { Id } from '../../base/ids.js';

const route = routesOf('files');
const Bytes = z.string().meta({ example: '# Claims\n' });

/** Not an operation of a caller, because a signed URL requires no other credential. */
const downloadRoute = defineRoute({
  method: 'get',
  path: '/files/content/{file_id}',
  permission: 'public',
  tag: 'files',
  params: z.object({ file_id: Id.max(128) }),
  query: z.object({
    expires: z.string().default('').describe('The end of the address, in epoch seconds.'),
    signature: z.string().default('').describe('Proves that the service made the address.'),
  }),
  summary: 'Download a file with its signed URL',
  description: 'The `url` of a file. Supports ranges and needs no other credential.',
  response: {
    schema: Bytes,
    description: 'The content, with its detected type.',
    stream: '*/*',
    others: {
      206: { description: 'The requested range.', schema: Bytes, stream: '*/*' },
      304: { description: 'The file matches `If-None-Match`.' },
    },
  },
  errors: ['access_denied', 'precondition_failed', 'range_not_satisfiable'],
  handler: ({ deps, ctx: { res }, params: { file_id }, query }) => download(deps, res, file_id, query),
});

/**
 * The files of a project (specification, File; contract, files). DELETE is an addition to the specification. The
 * literal path must precede the path with a parameter in the same position.
 */
export const fileRoutes: readonly Route[] = [
  route('POST /file/{projectID}', files.uploadFiles, {
    summary: 'Upload files',
    description:
      'The upload is streamed. The files of an upload must not exceed 100 MiB in total. Either all files are stored, or none.',
    multipart: true,
    response: { status: 201, description: 'The files, in the order of the request.' },
    idempotent: true,
    async handler({ deps, ctx }) {
      const stored = await upload(deps, ctx);
      return { data: await Promise.all(stored.map((file) => files.toFile(deps, file, ctx.baseUrl))) };
    },
  }),
  route('GET /file/{projectID}', files.listFiles, {
    summary: 'List the files of a project, newest first',
    response: { description: 'One page of files, each with the progress of its document if it has one.' },
  }),
  route('DELETE /file/{projectID}/{file_id}', files.deleteFile, {
    summary: 'Delete a file',
    description: 'The content is deleted immediately. A workflow deletes the data of a knowledge upload.',
    response: { description: 'The last record.' },
  }),
  route('GET /file/{projectID}/connector/{connector_id}', files.listFilesOfConnector, {
    summary: 'List the files of a connector, newest first',
    response: { description: 'One page of files.' },
  }),
  route('GET /file/{projectID}/{file_id}/connector', files.readConnectorOfFile, {
    summary: 'Read the connector of a file',
    response: { description: 'The connector without its secrets.' },
  }),
  route('GET /file/{projectID}/{file_id}', files.readFileRecord, {
    summary: 'Read the record of a file',
    response: { description: 'The file with a new download URL.' },
  }),
  downloadRoute,
];
