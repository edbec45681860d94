import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, request as send, type Dispatcher, type FormData } from 'undici';
import { decodeBody } from './decode-body.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { withDeadline } from './deadline.js';
import { isOutboundError, OutboundError, unreachable, withUnsent } from './outbound-error.js';
import type { OwnServers } from './own-servers.js';
import { guardedLookup, refuseUnlessFetchable, refuseUnlessPublic } from './target-guard.js';
import { withoutTrailing } from '../base/text.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: HttpMethod;
  url: string;
  headers?: Record<string, string>;
  /** Sent only to the origin of `url`, also after redirects. */
  ownHeaders?: Record<string, string> | undefined;
  /** Sends `headers` only to URLs of the same origin at or below the path of `below`. */
  credentials?: { below: string; headers: Record<string, string> } | undefined;
  /** The number of redirects to follow, each of which passes the same guard. Default: none. */
  maxRedirects?: number;
  /** Called with the target and the next method before a redirect is followed. It throws to refuse the target. */
  onRedirect?: ((to: URL, method: HttpMethod) => void) | undefined;
  /** A form also determines the `Content-Type`. */
  body?: string | Uint8Array | FormData;
  /** The limit for name resolution, connection and response together. */
  timeoutMs: number;
  /** The maximum size of the response body, also without its content encoding. Default: 1 MiB. */
  maxBytes?: number;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Sends all requests to servers that users specify. */
export interface HttpClient {
  /**
   * Sends one request and returns the response, whatever its status. A redirect that is not followed is a response.
   * @throws OutboundError `target_refused`, `timeout`, `too_large` or `unreachable`; the signal's reason when it aborts
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  /**
   * Returns a `fetch` for libraries that send their own requests and read responses as they arrive. The same guard
   * checks each request, and each response has at most `maxBytes`. It rejects with an OutboundError after it has passed
   * it to `failed`, because libraries wrap errors.
   */
  fetchWith(options: { maxBytes: number; failed(error: OutboundError): void }): typeof fetch;
  close(): Promise<void>;
}

interface HttpClientOptions {
  allowPrivateTargets: boolean;
  /**
   * The public origin of this product, which is allowed even if its address is private. Scheme, host and port must
   * match.
   */
  ownOrigin?: string | undefined;
  /** The servers that are never called, whatever `allowPrivateTargets` says. */
  ownServers?: OwnServers;
  lookup?: LookupFunction;
}

const connectTimeoutMs = 10_000;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { allowPrivateTargets, ownOrigin, ownServers, lookup } = options;
  const own = ownOrigin === undefined ? undefined : new URL(ownOrigin).origin;
  // `timeoutMs` limits the request. undici's own timeouts would end long responses within that limit.
  const agentWith = (connectLookup: LookupFunction | undefined) =>
    new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: connectorFor(connectLookup, ownServers) });
  const open = agentWith(lookup);
  const guarded = agentWith(guardedLookup(lookup));

  /** Checks every request, also after a redirect. */
  const dispatcherFor = (url: URL): Dispatcher => {
    refuseUnlessFetchable(url);
    const isTrusted = allowPrivateTargets || url.origin === own;
    if (!isTrusted) refuseUnlessPublic(url);
    return isTrusted ? open : guarded;
  };
  const callOnce = async (url: URL, request: HttpRequest): Promise<HttpResponse> =>
    exchange(url, request, dispatcherFor(url));

  return {
    async request(request) {
      const first = parse(request.url);
      return withDeadline(request, async (signal) => {
        let url = first;
        let current: HttpRequest = { ...request, signal };
        for (let left = request.maxRedirects ?? 0; ; left -= 1) {
          const answer = await callOnce(url, current).catch((error: unknown) => {
            throw url === first ? error : withUnsent(error, false);
          });
          const next = left > 0 ? redirectOf(url, answer) : undefined;
          if (!next) return answer;
          current = afterRedirect(current, answer.status);
          request.onRedirect?.(next, current.method);
          url = next;
        }
      });
    },
    fetchWith: (options) => createGuardedFetch(dispatcherFor, options),
    async close() {
      await Promise.all([open.destroy(), guarded.destroy()]);
    },
  };
}

/**
 * Opens connections, and refuses those to the product's own servers. It checks the address of the open connection, so
 * that no name and no spelling of an address avoids the check.
 */
function connectorFor(lookup: LookupFunction | undefined, ownServers: OwnServers | undefined) {
  const connect = buildConnector({ timeout: connectTimeoutMs, ...(lookup && { lookup }) });
  if (!ownServers) return connect;
  return (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      ownServers.refuse(socket.remoteAddress ?? '', socket.remotePort ?? 0).then(
        () => callback(null, socket),
        (refusal: Error) => {
          socket.destroy();
          callback(refusal, null);
        },
      );
    });
  };
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirectOf(from: URL, { status, headers }: HttpResponse): URL | undefined {
  const { location } = headers;
  if (!redirects.has(status) || typeof location !== 'string' || !URL.canParse(location, from.href)) return undefined;
  return new URL(location, from.href);
}

/**
 * The request that follows a redirect, as browsers send it (Fetch, HTTP-redirect fetch): 303 leads to a GET, and so do 301 and
 * 302 after a POST. All others are sent again as they are.
 */
function afterRedirect(request: HttpRequest, status: number): HttpRequest {
  const isPost = request.method === 'POST';
  const becomesGet = status === 303 || ((status === 301 || status === 302) && isPost);
  if (!becomesGet || request.method === 'GET') return request;
  const { body: _body, headers = {}, ...rest } = request;
  const kept = Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith('content-'));
  return { ...rest, method: 'GET', headers: Object.fromEntries(kept) };
}

/** Returns whether a URL is at or below a base URL. The URL parser resolves `.` and `..` in both. */
export function isBelow(base: string, url: URL): boolean {
  if (!URL.canParse(base)) return false;
  const { origin, pathname } = new URL(base);
  const folder = withoutTrailing(pathname, '/');
  return url.origin === origin && (url.pathname === folder || url.pathname.startsWith(`${folder}/`));
}

function parse(text: string): URL {
  if (!URL.canParse(text)) throw new OutboundError('target_refused', 'the address is not a URL', { isUnsent: true });
  return new URL(text);
}

async function exchange(url: URL, request: HttpRequest, dispatcher: Dispatcher): Promise<HttpResponse> {
  const { credentials, ownHeaders, maxBytes = 1024 * 1024 } = request;
  const own = url.origin === new URL(request.url).origin ? ownHeaders : {};
  const secrets = credentials && isBelow(credentials.below, url) ? credentials.headers : {};
  try {
    const answer = await send(url, {
      dispatcher,
      method: request.method,
      headers: { 'accept-encoding': 'identity', ...request.headers, ...own, ...secrets },
      body: request.body ?? null,
      signal: request.signal,
    });
    const encoded = await readUpTo(maxBytes, answer);
    const body = await decodeBody(encoded, answer.headers['content-encoding'], maxBytes);
    return { status: answer.statusCode, headers: answer.headers, body };
  } catch (error) {
    if (request.signal.aborted || isOutboundError(error)) throw error;
    throw unreachable(error);
  }
}

async function readUpTo(maxBytes: number, { body, headers }: Dispatcher.ResponseData): Promise<Buffer> {
  const tooLarge = () => new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`);
  if (Number(headers['content-length']) > maxBytes) return discard(body, tooLarge());
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return discard(body, tooLarge());
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function discard(body: Dispatcher.ResponseData['body'], error: Error): never {
  body.on('error', () => undefined).destroy();
  throw error;
}
