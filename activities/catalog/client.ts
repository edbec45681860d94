import { z } from 'zod';
import type { CatalogConfig } from '../../src/config.js';
import { AppError } from '../../src/errors.js';
import type { HttpClient, HttpResponse } from '../../src/outbound/http-client.js';
import { OutboundError } from '../../src/outbound/outbound-error.js';
import { retryAfterOf } from '../../src/outbound/retry-hints.js';

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

const TablePage = z.object({ data: z.array(CatalogTable), paging: z.object({ after: z.string().nullish() }).nullish() });

/** An end of an edge is its id, or in older catalogs a reference. */
const End = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);
const Edges = z.array(z.object({ fromEntity: End, toEntity: End })).nullish();
const Lineage = z.object({ nodes: z.array(Reference).nullish(), upstreamEdges: Edges, downstreamEdges: Edges });
export type CatalogLineage = z.infer<typeof Lineage>;

export interface CatalogClient {
  /** One page; `after` is null on the last. */
  tables(after: string | null, signal: AbortSignal): Promise<{ tables: CatalogTable[]; after: string | null }>;
  /** Undefined for a table that the catalog does not have any more. */
  lineage(tableId: string, signal: AbortSignal): Promise<CatalogLineage | undefined>;
}

const pageSize = 50;
const timeoutMs = 30_000;
const pageAtMost = 64 * 1024 * 1024;

/** Reads a catalog of OpenMetadata's shape. Errors: OutboundError, with the wait that the catalog asks for. */
export function createCatalogClient({ url, token }: Pick<CatalogConfig, 'url' | 'token'>, http: HttpClient): CatalogClient {
  async function get(path: string, query: Record<string, string>, signal: AbortSignal): Promise<HttpResponse> {
    if (url === undefined) throw new AppError('unconfigured', 'CATALOG_URL is not set: there is no catalog to read');
    const target = new URL(url.replace(/\/+$/, '') + path);
    target.search = new URLSearchParams(query).toString();
    const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    return http.request({ method: 'GET', url: target.href, headers, timeoutMs, maxBytes: pageAtMost, signal });
  }

  return {
    async tables(after, signal) {
      const query = { fields: 'columns,owners,tags', limit: String(pageSize), ...(after === null ? {} : { after }) };
      const { data, paging } = read(TablePage, await get('/api/v1/tables', query, signal));
      return { tables: data, after: paging?.after ?? null };
    },
    async lineage(tableId, signal) {
      const path = `/api/v1/lineage/table/${encodeURIComponent(tableId)}`;
      const answer = await get(path, { upstreamDepth: '1', downstreamDepth: '1' }, signal);
      return answer.status === 404 ? undefined : read(Lineage, answer);
    },
  };
}

/** Whatever a catalog answers may be mended there, so that everything but an answer is worth another try. */
function read<S extends z.ZodType>(schema: S, { status, headers, body }: HttpResponse): z.output<S> {
  if (status !== 200) {
    throw new OutboundError('action_unavailable', `the catalog answered with status ${status}`, { status, retryAfterMs: retryAfterOf(headers) });
  }
  const parsed = schema.safeParse(parse(body));
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.slice(0, 3).map((issue) => issue.path.join('.') || 'body').join(', ');
  throw new OutboundError('action_unavailable', `the catalog's answer cannot be read: ${where}`);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
