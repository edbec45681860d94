import { isJsonType } from '../../../http/json-body.js';
import type { HttpClient, HttpResponse } from '../../../outbound/http-client.js';
import { isOutboundError } from '../../../outbound/outbound-error.js';
import { epochSeconds } from '../../../base/time.js';
import { OauthError } from '../oauth-error.js';
import type { RateLimit } from '../rate-limit.js';
import { readClientMetadata } from './client-metadata.js';
import { isDocumentAddress, type Clients, type OauthClientDocument } from '../../../auth/oauth/clients.js';
import type { AppSchemes } from '../../../auth/oauth/redirect-uri.js';
import { parseJsonOrUndefined } from '../../../base/json.js';

const timeoutMs = 5000;
const maxBytes = 10 * 1024;
const minFreshness = 60;
const maxFreshness = 24 * 3600;
const defaultFreshness = 3600;

interface ClientDocumentDeps {
  clients: Clients;
  http: HttpClient;
  fetches: RateLimit;
  baseUrl: () => string;
  /** Allows plain http on loopback hosts, which cannot have certificates. For development only. */
  allowLoopbackHttp: boolean;
  appSchemes: AppSchemes;
}

/**
 * Finds the client of an authorization request. If the id is the URL of a metadata document, reads the document again
 * when the stored copy is too old.
 */
export type FindClient = (id: string, address: string) => Promise<OauthClientDocument | undefined>;

/**
 * Supports Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document). The URL is untrusted input, so
 * the guarded outbound client fetches it: public addresses only, no redirects, with limits on time and size.
 */
export function createFindClient(deps: ClientDocumentDeps): FindClient {
  return async (id, address) => {
    const known = await deps.clients.find(id);
    if (!isDocumentAddress(id) || (known && (known.fresh_until ?? 0) > epochSeconds())) return known;
    const problem = documentAddressProblem(id, deps);
    if (problem !== undefined) throw refused(problem);
    await deps.fetches.take(address);
    const response = await fetchDocument(deps.http, id);
    const metadata = readDocument(id, response, deps);
    return deps.clients.keepDocument(id, metadata, freshnessOf(response));
  };
}

/** Why an address that a client names cannot be fetched. The outbound client then checks where it leads. */
export function documentAddressProblem(
  id: string,
  { baseUrl, allowLoopbackHttp }: Pick<ClientDocumentDeps, 'baseUrl' | 'allowLoopbackHttp'>,
): string | undefined {
  if (!URL.canParse(id)) return 'is not an address';
  const url = new URL(id);
  const isHttps = url.protocol === 'https:' || (allowLoopbackHttp && url.hostname === '127.0.0.1');
  if (!isHttps) return 'is not an https address';
  if (url.username !== '' || url.password !== '' || id.includes('#')) return 'carries credentials or a fragment';
  if (url.pathname === '/' || url.href !== id) return 'is not a plain address with a path';
  // The outbound client trusts this service's own origin, which serves no client documents.
  if (url.origin === new URL(baseUrl()).origin) return 'is an address of this service itself';
  return undefined;
}

async function fetchDocument(http: HttpClient, url: string): Promise<HttpResponse> {
  const { signal } = new AbortController();
  const headers = { accept: 'application/json' };
  const response = await http
    .request({ method: 'GET', url, headers, timeoutMs, maxBytes, signal })
    .catch((error: unknown) => {
      // The exact reason would reveal the server's network to anyone.
      throw isOutboundError(error) ? refused('could not be read', error) : error;
    });
  if (response.status !== 200 || !isJsonType(String(response.headers['content-type'] ?? '')))
    throw refused('could not be read');
  return response;
}

/** A document contains no secret, because anybody can read it. */
const documentMethods = ['none', 'private_key_jwt'] as const;
/** What is stored has as many bytes as a document can have. */
const limits = { maxRedirectUris: 100, maxStoredBytes: maxBytes };

function readDocument(id: string, { body }: HttpResponse, { appSchemes }: ClientDocumentDeps) {
  const document = parseJsonOrUndefined(body.toString('utf8'));
  if (typeof document !== 'object' || document === null || !('client_id' in document) || document.client_id !== id) {
    throw refused('does not name itself as its client_id');
  }
  if ('client_secret' in document && document.client_secret !== null) throw refused('contains a secret');
  return readClientMetadata(document, { methods: documentMethods, ...limits, appSchemes, skipsOddRedirects: true });
}

/** Returns the document's `max-age` within limits, so that it is neither fetched for every page nor cached forever. */
export function freshnessOf({ headers }: Pick<HttpResponse, 'headers'>): number {
  const maxAge = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/i.exec(String(headers['cache-control'] ?? ''))?.[1];
  return Math.min(Math.max(maxAge === undefined ? defaultFreshness : Number(maxAge), minFreshness), maxFreshness);
}

function refused(problem: string, cause?: unknown): OauthError {
  return new OauthError('invalid_client', `the client's metadata document ${problem}`, { status: 400, cause });
}
