import { isJsonType } from '../../http/json-body.js';
import type { HttpClient, HttpResponse } from '../../outbound/http-client.js';
import { isOutboundError } from '../../outbound/outbound-error.js';
import { epochSeconds } from '../../time.js';
import { OauthError } from '../oauth-error.js';
import type { RateLimit } from '../rate-limit.js';
import { readClientMetadata } from './client-metadata.js';
import { isDocumentAddress, type Clients, type OauthClientDocument } from './clients.js';

const timeoutMs = 5000;
const maxBytes = 10 * 1024;
const shortestFreshness = 60;
const longestFreshness = 24 * 3600;
const usualFreshness = 3600;

export interface ClientDocumentDeps {
  clients: Clients;
  http: HttpClient;
  fetches: RateLimit;
  baseUrl: () => string;
  /** Development only: plain http on loopback hosts, where there is no certificate to be had. */
  allowLoopbackHttp: boolean;
}

/** The client of an authorization request; for the address of a metadata document its content, read anew when it is old. */
export type FindClient = (id: string, address: string) => Promise<OauthClientDocument | undefined>;

/**
 * Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document). The address comes from whoever opens the
 * page, so it is fetched by the product's guarded client: public addresses only, no redirect, bounded in time and size.
 */
export function createFindClient(deps: ClientDocumentDeps): FindClient {
  return async (id, address) => {
    const known = await deps.clients.find(id);
    if (!isDocumentAddress(id) || (known && (known.fresh_until ?? 0) > epochSeconds())) return known;
    const problem = documentAddressProblem(id, deps);
    if (problem !== undefined) throw refused(problem);
    await deps.fetches.take(address);
    const response = await fetchDocument(deps.http, id);
    const metadata = readDocument(id, response);
    return deps.clients.keepDocument(id, metadata, freshnessOf(response));
  };
}

function documentAddressProblem(id: string, { baseUrl, allowLoopbackHttp }: ClientDocumentDeps): string | undefined {
  if (!URL.canParse(id)) return 'is not an address';
  const url = new URL(id);
  const isHttps = url.protocol === 'https:' || (allowLoopbackHttp && url.hostname === '127.0.0.1');
  if (!isHttps) return 'is not an https address';
  if (url.username !== '' || url.password !== '' || id.includes('#')) return 'carries credentials or a fragment';
  if (url.pathname === '/' || url.href !== id) return 'is not a plain address with a path';
  // The outbound client trusts our own origin; nothing of ours is a client's document.
  if (url.origin === new URL(baseUrl()).origin) return 'is an address of this service itself';
  return undefined;
}

async function fetchDocument(http: HttpClient, url: string): Promise<HttpResponse> {
  const { signal } = new AbortController();
  const headers = { accept: 'application/json' };
  const response = await http.request({ method: 'GET', url, headers, timeoutMs, maxBytes, signal }).catch((error: unknown) => {
    // Which of the reasons it was would tell a stranger about the network that this server stands in.
    throw isOutboundError(error) ? refused('could not be read', error) : error;
  });
  if (response.status !== 200 || !isJsonType(String(response.headers['content-type'] ?? ''))) throw refused('could not be read');
  return response;
}

function readDocument(id: string, { body }: HttpResponse) {
  const document = parse(body.toString('utf8'));
  if (typeof document !== 'object' || document === null || !('client_id' in document) || document.client_id !== id) {
    throw refused('does not name itself as its client_id');
  }
  if ('client_secret' in document) throw refused('holds a secret');
  const metadata = readClientMetadata(document, 'none');
  if (metadata.token_endpoint_auth_method !== 'none') throw refused('asks for a secret that nobody could keep');
  return metadata;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The document's own `max-age` within bounds: neither a fetch for every page nor a copy for ever. */
function freshnessOf({ headers }: HttpResponse): number {
  const asked = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/i.exec(String(headers['cache-control'] ?? ''))?.[1];
  return Math.min(Math.max(asked === undefined ? usualFreshness : Number(asked), shortestFreshness), longestFreshness);
}

function refused(problem: string, cause?: unknown): OauthError {
  return new OauthError('invalid_client', `the client's metadata document ${problem}`, { status: 400, cause });
}
