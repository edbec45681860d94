import { randomUUID } from 'node:crypto';
import { apiRoot, type ConnectionInfo, type Workspace } from './connection.js';
import { mayRepeat, retryOf, secondsToWait, type Retry, type RetryOptions } from './retry.js';
import { ServiceError, type ErrorBody } from './service-error.js';

/** What any call takes in addition to its input. */
export interface CallOptions {
  signal?: AbortSignal;
  /** For this call in place of the client's. */
  maxAttempts?: number;
  /** Of an operation that takes one; by default a new one for each call, which its repeats share. */
  idempotencyKey?: string;
  /** Of an approval, for the same call as the one that waited. */
  resumeToken?: string;
}

export type Query = Record<string, string | number | boolean | undefined>;

/** What goes with a method and a path. */
export interface RequestParts {
  query?: Query | undefined;
  /** Sent as JSON, or as it is where it is a form. */
  body?: unknown;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Any route of a surface, by its path from the root of the API, with the leading slash. */
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
  /** A fault may come after the service did it, and the service cannot recognise a repeat: repeated after 429 only. */
  isUnsafeToRepeat?: boolean;
}

export type Surface = 'gateway' | 'platform';

export interface Transport {
  workspace: Workspace;
  retry: Retry;
  connectionInfo(options?: Pick<CallOptions, 'signal'>): Promise<ConnectionInfo>;
  /** The answer's JSON, or its text if it is of another type; undefined if it has no body. */
  call<T>(surface: Surface, outgoing: Outgoing, options?: CallOptions): Promise<T>;
  /** The answer itself, for streams. */
  open(surface: Surface, outgoing: Outgoing, options?: CallOptions): Promise<Response>;
  /** Bytes at a signed address, which are asked for without any credential. */
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

  const sendRepeatedly = (
    url: string,
    init: RequestInit,
    isUnsafeToRepeat: boolean,
    { signal, maxAttempts = retry.maxAttempts }: CallOptions = {},
  ) =>
    // A redirect would take the key to another place.
    repeatedly({ ...retry, maxAttempts }, isUnsafeToRepeat, signal, () =>
      send(url, { ...init, redirect: 'manual', ...(signal && { signal }) }),
    );

  const connectionInfo: Transport['connectionInfo'] = async ({ signal } = {}) => {
    known ??= (await (
      await sendRepeatedly(`${workspace.baseUrl}/v1/connection-info`, {}, false, signal ? { signal } : {})
    ).json()) as ConnectionInfo;
    return known;
  };

  const open: Transport['open'] = async (surface, outgoing, options = {}) => {
    const info = await connectionInfo(options);
    const url = new URL(apiRoot(workspace, info) + outgoing.path);
    for (const [name, value] of Object.entries(outgoing.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const { body, type } = encoded(outgoing.body);
    const headers = { ...headersOf(surface, outgoing, options, { ...info, apiKey, workspace }), ...type };
    return sendRepeatedly(
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
      if (response.status === 202) refuseWaiting(body as ErrorBody & { status?: string });
      return body;
    },
    async download(url, options) {
      return new Uint8Array(await (await sendRepeatedly(url, {}, false, options)).arrayBuffer());
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
    ...(takesKey && { 'idempotency-key': idempotencyKey ?? randomUUID() }),
    ...(resumeToken !== undefined && { 'x-resume-token': resumeToken }),
    ...headers,
  };
}

/** A form brings its own media type, with its boundary. */
function encoded(body: unknown): { body?: string | FormData; type?: { 'content-type': string } } {
  if (body === undefined) return {};
  return body instanceof FormData
    ? { body }
    : { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
}

/** @throws ServiceError for an answer that is none, once it may not be repeated or the attempts are used up */
async function repeatedly(
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
    if (attempt >= retry.maxAttempts || !isSafe || !mayRepeat(error.status, error.error)) throw error;
    await retry.sleep(secondsToWait(attempt, response.headers.get('retry-after'), retry), signal);
  }
}

/** What stands between may answer with anything, such as a page of HTML. */
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

/** A call that a policy holds has not been done, so it never looks like an answer. */
function refuseWaiting(body: (ErrorBody & { status?: string }) | undefined): void {
  if (body?.status !== 'pending_approval') return;
  throw new ServiceError(202, {
    ...body,
    error: 'pending_approval',
    error_description: 'the call waits for an approval',
  });
}
