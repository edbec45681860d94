import { z } from 'zod';
import type { CatalogConfig } from '../../config.js';
import { AppError } from '../../base/errors.js';
import type { HttpClient, HttpResponse } from '../../outbound/http-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { retryAfterOf } from '../../outbound/retry-hints.js';
import { parseJsonOrUndefined } from '../../base/json.js';
import { withoutTrailing } from '../../base/text.js';

const Reference = z.object({
  id: z.string(),
  type: z.string().default('unknown'),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
  fullyQualifiedName: z.string().nullish(),
  deleted: z.boolean().nullish(),
});
export type CatalogReference = z.infer<typeof Reference>;

const Column = z.object({
  name: z.string(),
  fullyQualifiedName: z.string().nullish(),
  dataType: z.string().nullish(),
  description: z.string().nullish(),
});

const CatalogTable = z.object({
  id: z.string(),
  name: z.string(),
  fullyQualifiedName: z.string().nullish(),
  description: z.string().nullish(),
  tableType: z.string().nullish(),
  deleted: z.boolean().nullish(),
  columns: z.array(Column).nullish(),
  owners: z.array(Reference).nullish(),
  tags: z.array(z.object({ tagFQN: z.string() })).nullish(),
});
export type CatalogTable = z.infer<typeof CatalogTable>;

const TablePage = z.object({
  data: z.array(CatalogTable),
  paging: z.object({ after: z.string().nullish() }).nullish(),
});

/** An end of an edge is an id, or a reference in older catalogs. */
const End = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);
const Edges = z.array(z.object({ fromEntity: End, toEntity: End })).nullish();
const Lineage = z.object({ nodes: z.array(Reference).nullish(), upstreamEdges: Edges, downstreamEdges: Edges });
export type CatalogLineage = z.infer<typeof Lineage>;

export type CatalogClient = ReturnType<typeof createCatalogClient>;

const pageSize = 50;
const timeoutMs = 30_000;
const maxPageBytes = 64 * 1024 * 1024;

/** Reads a catalog with the API of OpenMetadata. Throws OutboundError, with the wait time that the catalog requests. */
export function createCatalogClient({ url, token }: Pick<CatalogConfig, 'url' | 'token'>, http: HttpClient) {
  async function get(path: string, query: Record<string, string>, signal: AbortSignal): Promise<HttpResponse> {
    if (url === undefined) throw new AppError('unconfigured', 'set CATALOG_URL to the address of a catalog');
    const target = new URL(withoutTrailing(url, '/') + path);
    target.search = new URLSearchParams(query).toString();
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    return http.request({ method: 'GET', url: target.href, headers, timeoutMs, maxBytes: maxPageBytes, signal });
  }

  return {
    /** Reads one page; `after` is null on the last one. */
    async tables(after: string | null, signal: AbortSignal) {
      const query = { fields: 'columns,owners,tags', limit: String(pageSize), ...(after === null ? {} : { after }) };
      const { data, paging } = read(TablePage, await get('/api/v1/tables', query, signal));
      return { tables: data, after: paging?.after || null };
    },
    /** Returns undefined if the catalog no longer has the table. */
    async lineage(tableId: string, signal: AbortSignal) {
      const path = `/api/v1/lineage/table/${encodeURIComponent(tableId)}`;
      const answer = await get(path, { upstreamDepth: '1', downstreamDepth: '1' }, signal);
      return answer.status === 404 ? undefined : read(Lineage, answer);
    },
  };
}

/** Treats every error as temporary, because somebody may correct it in the catalog. */
function read<S extends z.ZodType>(schema: S, { status, headers, body }: HttpResponse): z.output<S> {
  if (status !== 200) {
    throw new OutboundError('action_unavailable', `the catalog answered with status ${status}`, {
      status,
      retryAfterMs: retryAfterOf(headers),
    });
  }
  const parsed = schema.safeParse(parseJsonOrUndefined(body.toString('utf8')));
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues
    .slice(0, 3)
    .map((issue) => issue.path.join('.') || 'body')
    .join(', ');
  throw new OutboundError('action_unavailable', `the catalog's answer cannot be read: ${where}`);
}
