import type { LookupFunction } from 'node:net';
import { Agent, request as send, type Dispatcher } from 'undici';
import { withDeadline } from './deadline.js';
import { isOutboundError, OutboundError } from './outbound-error.js';
import { guardedLookup, refuseUnlessFetchable, refuseUnlessPublic } from './target-guard.js';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  /** Headers that go to addresses at or below this URL alone: same origin, path at or under its path. */
  credentials?: { below: string; headers: Record<string, string> } | undefined;
  /** How many redirects of a GET are followed, each through the same guard; none when left out. */
  maxRedirects?: number;
  body?: string | Uint8Array;
  /** The whole exchange: name resolution, connection, answer. */
  timeoutMs: number;
  /** The largest body taken, 1 MiB when left out. */
  maxBytes?: number;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** The product's one way out to servers that users name. */
export interface HttpClient {
  /**
   * One request and its answer, whatever its status; a redirect that is not followed is an answer.
   * @throws OutboundError `target_refused`, `timeout`, `too_large` or `unreachable`; the signal's reason when it aborts
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

export interface HttpClientOptions {
  allowPrivateTargets: boolean;
  /** The product's own public origin, which is called even where it is private: scheme, host and port must agree. */
  ownOrigin?: string | undefined;
  lookup?: LookupFunction;
}

const connectTimeoutMs = 10_000;

export function createHttpClient({ allowPrivateTargets, ownOrigin, lookup }: HttpClientOptions): HttpClient {
  const own = ownOrigin === undefined ? undefined : new URL(ownOrigin).origin;
  // The deadline is ours; undici's own would cut long answers that are still within it.
  const agentWith = (connectLookup: LookupFunction | undefined) =>
    new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: connectTimeoutMs, ...(connectLookup && { lookup: connectLookup }) },
    });
  const open = agentWith(lookup);
  const guarded = agentWith(guardedLookup(lookup));

  /** Each address that is called comes through here, a redirect's as well. */
  const callOnce = (url: URL, request: HttpRequest): Promise<HttpResponse> => {
    refuseUnlessFetchable(url);
    const isTrusted = allowPrivateTargets || url.origin === own;
    if (!isTrusted) refuseUnlessPublic(url);
    return exchange(url, request, isTrusted ? open : guarded);
  };

  return {
    async request(request) {
      const first = parse(request.url);
      return withDeadline(request, async (signal) => {
        let url = first;
        for (let left = request.method === 'GET' ? (request.maxRedirects ?? 0) : 0; ; left -= 1) {
          const answer = await callOnce(url, { ...request, signal });
          const next = left > 0 ? redirectOf(url, answer) : undefined;
          if (!next) return answer;
          url = next;
        }
      });
    },
    async close() {
      await Promise.all([open.destroy(), guarded.destroy()]);
    },
  };
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirectOf(from: URL, { status, headers }: HttpResponse): URL | undefined {
  const { location } = headers;
  if (!redirects.has(status) || typeof location !== 'string' || !URL.canParse(location, from.href)) return undefined;
  return new URL(location, from.href);
}

/** Whether an address lies at or under a base address; of both, `.` and `..` are resolved by the URL parser. */
export function isBelow(base: string, url: URL): boolean {
  if (!URL.canParse(base)) return false;
  const { origin, pathname } = new URL(base);
  const folder = pathname.replace(/\/+$/, '');
  return url.origin === origin && (url.pathname === folder || url.pathname.startsWith(`${folder}/`));
}

function parse(text: string): URL {
  if (!URL.canParse(text)) throw new OutboundError('target_refused', 'the address is not a URL');
  return new URL(text);
}

async function exchange(url: URL, request: HttpRequest, dispatcher: Dispatcher): Promise<HttpResponse> {
  const { credentials } = request;
  const secrets = credentials && isBelow(credentials.below, url) ? credentials.headers : {};
  try {
    const answer = await send(url, {
      dispatcher,
      method: request.method,
      headers: { 'accept-encoding': 'identity', ...request.headers, ...secrets },
      body: request.body ?? null,
      signal: request.signal,
    });
    const body = await readUpTo(request.maxBytes ?? 1024 * 1024, answer);
    return { status: answer.statusCode, headers: answer.headers, body };
  } catch (error) {
    if (request.signal.aborted || isOutboundError(error)) throw error;
    throw unreachable(error);
  }
}

async function readUpTo(maxBytes: number, { body, headers }: Dispatcher.ResponseData): Promise<Buffer> {
  const tooLarge = new OutboundError('too_large', `the answer is larger than ${maxBytes} bytes`);
  if (Number(headers['content-length']) > maxBytes) return discard(body, tooLarge);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return discard(body, tooLarge);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function discard(body: Dispatcher.ResponseData['body'], error: Error): never {
  body.on('error', () => undefined).destroy();
  throw error;
}

/** Only the error's code is told: the texts of system errors name addresses. */
function unreachable(error: unknown): OutboundError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'no code';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new OutboundError('timeout', 'no connection within 10 s');
  return new OutboundError('unreachable', `the target could not be reached or broke off (${code})`);
}
