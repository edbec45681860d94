import { apiRoot, type ConnectionInfo, type Workspace } from './connection.js';
import { mayRetry, retryOf, secondsToWait, type Retry, type RetryOptions } from './retry.js';
import { ServiceError, type ErrorBody } from './service-error.js';

/** The options of any call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** Overrides the client's number for this call. */
  maxAttempts?: number;
  /** For an operation that takes an idempotency key. By default, each call gets a new key, which its retries share. */
  idempotencyKey?: string;
  /** The resume token of an approval. The call must be the same as the one that was held. */
  resumeToken?: string;
}

export type Query = Record<string, string | number | boolean | undefined>;

/** The parts of a request besides its method and path. */
export interface RequestParts {
  query?: Query | undefined;
  /** Sent as JSON, unless it is a form. */
  body?: unknown;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Sends a request to any route. The path is relative to the API root and starts with a slash. */
export type SendRequest = <T = unknown>(
  method: Method,
  path: string,
  parts?: RequestParts,
  options?: CallOptions,
) => Promise<T>;

export interface Outgoing extends RequestParts {
  method: Method;
  path: string;
  headers?: Record<string, string>;
  takesKey?: boolean;
  /**
   * If true, a retry happens only after status 429: after a fault the service may already have acted, and it cannot
   * recognise the retry.
   */
  isUnsafeToRepeat?: boolean;
}

export type Surface = 'gateway' | 'platform';

export interface Transport {
  workspace: Workspace;
  retry: Retry;
  connectionInfo(options?: Pick<CallOptions, 'signal'>): Promise<ConnectionInfo>;
  /** Returns the JSON of the response, or its text for another media type; undefined without a body. */
  call<T>(surface: Surface, outgoing: Outgoing, options?: CallOptions): Promise<T>;
  /** Returns the response itself, for streams. */
  open(surface: Surface, outgoing: Outgoing, options?: CallOptions): Promise<Response>;
  /** Downloads the bytes of a signed URL without sending a credential. */
  download(url: string, options?: CallOptions): Promise<Uint8Array>;
}

export interface TransportOptions extends RetryOptions {
  workspace: Workspace;
  apiKey: string;
  fetch?: typeof fetch;
}

export function createTransport({
  workspace,
  apiKey,
  fetch: send = fetch,
  ...retryOptions
}: TransportOptions): Transport {
  const retry = retryOf(retryOptions);
  let known: ConnectionInfo | undefined;

  const sendWithRetries = (
    url: string,
    init: RequestInit,
    isUnsafeToRepeat: boolean,
    { signal, maxAttempts = retry.maxAttempts }: CallOptions = {},
  ) =>
    // Do not follow redirects, because they could send the key to another host.
    withRetries({ ...retry, maxAttempts }, isUnsafeToRepeat, signal, () =>
      send(url, { ...init, redirect: 'manual', ...(signal && { signal }) }),
    );

  const connectionInfo: Transport['connectionInfo'] = async ({ signal } = {}) => {
    known ??= (await (
      await sendWithRetries(`${workspace.baseUrl}/v1/connection-info`, {}, false, signal ? { signal } : {})
    ).json()) as ConnectionInfo;
    return known;
  };

  const open: Transport['open'] = async (surface, outgoing, options = {}) => {
    const info = await connectionInfo(options);
    const url = new URL(apiRoot(workspace, info) + outgoing.path);
    for (const [name, value] of Object.entries(outgoing.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const { body, type } = encodedBody(outgoing.body);
    const headers = { ...headersOf(surface, outgoing, options, { ...info, apiKey, workspace }), ...type };
    return sendWithRetries(
      url.href,
      { method: outgoing.method, headers, ...(body !== undefined && { body }) },
      outgoing.isUnsafeToRepeat ?? false,
      options,
    );
  };

  return {
    workspace,
    retry,
    connectionInfo,
    open,
    async call<T>(surface: Surface, outgoing: Outgoing, options?: CallOptions): Promise<T> {
      const response = await open(surface, outgoing, options);
      const text = await response.text();
      const isJson = /^(application\/json\b|$)/.test(response.headers.get('content-type') ?? '');
      const body = (text !== '' && isJson ? JSON.parse(text) : text || undefined) as T;
      if (response.status === 202) throwIfHeld(body as ErrorBody & { status?: string });
      return body;
    },
    async download(url, options) {
      return new Uint8Array(await (await sendWithRetries(url, {}, false, options)).arrayBuffer());
    },
  };
}

function headersOf(
  surface: Surface,
  { takesKey, headers }: Outgoing,
  { idempotencyKey, resumeToken }: CallOptions,
  {
    apiKey,
    workspace,
    workspaceHeader,
  }: Pick<TransportOptions, 'apiKey' | 'workspace'> & Pick<ConnectionInfo, 'workspaceHeader'>,
): Record<string, string> {
  return {
    ...(surface === 'gateway'
      ? { authorization: `Bearer ${apiKey}`, [workspaceHeader]: workspace.name }
      : { 'x-api-key': apiKey }),
    ...(takesKey && { 'idempotency-key': idempotencyKey ?? randomKey() }),
    ...(resumeToken !== undefined && { 'x-resume-token': resumeToken }),
    ...headers,
  };
}

/** A UUID (RFC 9562, version 4). Pages that were not loaded over HTTPS have no `crypto.randomUUID`. */
function randomKey(): string {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte, at) => {
    const marked = at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte;
    return marked.toString(16).padStart(2, '0');
  });
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Leaves out the media type of a form, because `fetch` adds it with the boundary. */
function encodedBody(body: unknown): { body?: string | FormData; type?: { 'content-type': string } } {
  if (body === undefined) return {};
  return body instanceof FormData
    ? { body }
    : { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
}

/** @throws ServiceError for an error response that may not be retried, or after the last attempt */
async function withRetries(
  retry: Retry,
  isUnsafeToRepeat: boolean,
  signal: AbortSignal | undefined,
  send: () => Promise<Response>,
): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await send();
    if (response.ok) return response;
    const error = new ServiceError(response.status, await errorBodyOf(response));
    const isSafe = response.status === 429 || !isUnsafeToRepeat;
    if (attempt >= retry.maxAttempts || !isSafe || !mayRetry(error.status, error.error)) throw error;
    await retry.sleep(secondsToWait(attempt, response.headers.get('retry-after'), retry), signal);
  }
}

/** Tolerates any content, because a proxy may respond with, for example, an HTML page. */
async function errorBodyOf(response: Response): Promise<ErrorBody> {
  try {
    const body: unknown = JSON.parse(await response.text());
    if (typeof body !== 'object' || body === null) return {};
    const { error, error_description, lifecycle_id } = body as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries({ error, error_description, lifecycle_id }).filter(([, value]) => typeof value === 'string'),
    );
  } catch {
    return {};
  }
}

/** Throws for a call that a policy holds, because it has not been executed and must not look like a success. */
function throwIfHeld(body: (ErrorBody & { status?: string }) | undefined): void {
  if (body?.status !== 'pending_approval') return;
  throw new ServiceError(202, {
    ...body,
    error: 'pending_approval',
    error_description: 'the call waits for an approval',
  });
}
