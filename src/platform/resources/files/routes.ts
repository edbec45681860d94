import { z } from 'zod';
import { findConnector } from '../../../connectors/store.js';
import type { Deps } from '../../../deps.js';
import { notFound } from '../../../errors.js';
import { defineRoute, type Route } from '../../../http/define-route.js';
import { listOf, listPage, ListQuery } from '../../../http/lists.js';
import { Connector, shown } from '../connectors/schemas.js';
import { download } from './download.js';
import { File, UploadForm } from './schemas.js';
import { deleteFile, readFile, toFile } from './store.js';
import { upload } from './upload.js';

const tag = 'files';
const query = z.object({ projectID: z.string().optional() });
const params = z.object({ projectID: z.string(), file_id: z.string() });
const Bytes = z.string().meta({ example: '# Claims\n' });

/** Files of a project (specification, File; contract, files), and their removal, which is an addition. */
export function fileRoutes(deps: Deps, baseUrl: () => string): Route[] {
  return [...changes(deps, baseUrl), ...reads(deps, baseUrl), downloadRoute(deps)];
}

function changes(deps: Deps, baseUrl: () => string): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/file/{projectID}',
      permission: 'svc:orchestrate.write',
      tag,
      params: params.pick({ projectID: true }),
      query,
      summary: 'Upload files',
      description: 'Streamed; the files of one upload are at most 100 MiB together. All are kept or none.',
      body: UploadForm,
      multipart: true,
      response: { status: 201, schema: z.object({ data: z.array(File) }), description: 'The files, in the order of the body.' },
      errors: ['plan_limit', 'payload_too_large'],
      idempotent: true,
      async handler({ ctx }) {
        const files = await upload(deps, ctx);
        return { data: await Promise.all(files.map((file) => toFile(deps, file, baseUrl()))) };
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/file/{projectID}/{file_id}',
      permission: 'svc:orchestrate.write',
      tag,
      params,
      query,
      summary: 'Delete a file',
      description: 'Its bytes are gone with the answer; what a knowledge upload made of it goes by its workflow.',
      response: { schema: File, description: 'The last record.' },
      errors: ['conflict'],
      handler: async ({ ctx, params: { file_id } }) => toFile(deps, await deleteFile(deps, ctx.principal, file_id), baseUrl()),
    }),
  ];
}

/** The literal path stands before the one with a parameter in its place. */
function reads(deps: Deps, baseUrl: () => string): Route[] {
  const { collections } = deps.mongo;
  return [
    defineRoute({
      method: 'get',
      path: '/file/{projectID}/connector/{connector_id}',
      permission: 'svc:orchestrate.read',
      tag,
      params: z.object({ projectID: z.string(), connector_id: z.string() }),
      query: ListQuery.extend(query.shape),
      summary: 'List the files of a connector, newest first',
      response: { schema: listOf(File), description: 'One page of files.' },
      async handler({ ctx: { principal }, params: { connector_id }, query }) {
        const connector = await findConnector(collections, connector_id);
        if (connector?.projectID !== principal.projectId) throw notFound('the connector');
        const page = await listPage(collections.files, { projectID: principal.projectId, connector_id, status: { $ne: 'deleted' } }, query);
        return { ...page, data: await Promise.all(page.data.map((file) => toFile(deps, file, baseUrl()))) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/file/{projectID}/{file_id}/connector',
      permission: 'svc:orchestrate.read',
      tag,
      params,
      query,
      summary: 'Read the connector of a file',
      response: { schema: Connector, description: 'The connector without its secrets.' },
      async handler({ ctx: { principal }, params: { file_id } }) {
        const file = await readFile(deps, principal, file_id);
        const connector = file.connector_id === '' ? null : await findConnector(collections, file.connector_id);
        if (connector?.projectID !== principal.projectId) throw notFound('a connector of this file');
        return shown(connector);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/file/{projectID}/{file_id}',
      permission: 'svc:orchestrate.read',
      tag,
      params,
      query,
      summary: 'Read the record of a file',
      response: { schema: File, description: 'The file, with a download address made anew.' },
      handler: async ({ ctx, params: { file_id } }) => toFile(deps, await readFile(deps, ctx.principal, file_id), baseUrl()),
    }),
  ];
}

function downloadRoute(deps: Deps): Route {
  return defineRoute({
    method: 'get',
    path: '/files/content/{file_id}',
    permission: 'public',
    tag,
    params: z.object({ file_id: z.string().max(128) }),
    query: z.object({ expires: z.string().default(''), signature: z.string().default('') }),
    summary: 'Download a file by its signed address',
    description: 'The `url` of a file. Takes ranges; needs no other credential.',
    response: { schema: Bytes, description: 'The bytes, of the type that they are.', stream: '*/*', others: { 206: { description: 'The bytes of the range.', schema: Bytes, stream: '*/*' }, 304: { description: 'The file is the one that `If-None-Match` names.' } } },
    errors: ['access_denied', { code: 'invalid_request', status: 412 }, { code: 'invalid_request', status: 416 }],
    handler: ({ ctx: { res }, params: { file_id }, query }) => download(deps, res, file_id, query),
  });
}
