import type { ClientCredentials } from '../connectors/rules/config.js';
import { LRUCache } from 'lru-cache';
import { withDeadline } from '../../outbound/deadline.js';
import type { HttpClient, HttpResponse } from '../../outbound/http-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { isTransientStatus, retryAfterOf } from '../../outbound/retry-hints.js';
import { AppError } from '../../base/errors.js';
import { sha256Hex } from '../../base/hash.js';
import { isJsonObject, parseJsonOrUndefined, type JsonObject } from '../../base/json.js';

interface CachedToken {
  token: string;
  expiresAt: number;
}

const timeoutMs = 20_000;
const maxTokens = 1000;
const earlyMs = 30_000;
/** The default lifetime if the answer does not state one (RFC 6749, 5.1). */
const defaultLifetimeSeconds = 300;

/**
 * Gets access tokens by OAuth client credentials (RFC 6749, 4.4), and caches them in memory until shortly before they
 * expire.
 */
export function createTokenSource(http: Pick<HttpClient, 'request'>) {
  const held = new LRUCache<string, CachedToken>({ max: maxTokens });
  const fetching = new Map<string, Promise<CachedToken>>();

  /** All calls that need a new token at the same time share one request, which no single call aborts. */
  function fetchOnce(key: string, credentials: ClientCredentials): Promise<CachedToken> {
    const running =
      fetching.get(key) ??
      fetchToken(http, credentials)
        .then((fetched) => (held.set(key, fetched), fetched))
        .finally(() => fetching.delete(key));
    fetching.set(key, running);
    return running;
  }

  return {
    /**
     * Never returns the token `refused`, which the server answered with 401.
     * @throws OutboundError and AppError like an action
     */
    async tokenFor(
      { id, sealed }: { id: string; sealed: string },
      credentials: ClientCredentials,
      signal: AbortSignal,
      refused?: string,
    ): Promise<string> {
      const key = `${id}/${sha256Hex(sealed)}`;
      const present = held.get(key);
      if (present && present.expiresAt > Date.now() && present.token !== refused) return present.token;
      return (await withDeadline({ timeoutMs, signal }, () => fetchOnce(key, credentials))).token;
    },
  };
}

export type TokenSource = ReturnType<typeof createTokenSource>;

async function fetchToken(http: Pick<HttpClient, 'request'>, credentials: ClientCredentials): Promise<CachedToken> {
  const { token_url: url, client_id, client_secret, scope, parameters = {}, send_as } = credentials;
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) });
  for (const [name, values] of Object.entries(parameters))
    for (const value of [values].flat()) form.append(name, value);
  if (send_as === 'body')
    for (const [name, value] of Object.entries({ client_id, client_secret })) form.set(name, value);
  const answer = await http.request({
    method: 'POST',
    url,
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    ...(send_as === 'basic' && {
      credentials: { below: url, headers: { authorization: basicOf(formText(client_id), formText(client_secret)) } },
    }),
    body: form.toString(),
    timeoutMs,
    signal: new AbortController().signal,
  });
  return tokenIn(answer);
}

export function basicOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Id and secret must be form-encoded before they are joined (RFC 6749, 2.3.1). */
function formText(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}

/** Types whose tokens are not sent as `Bearer` (RFC 6749, 7.1; RFC 9449). Servers also omit the type, or write others. */
const otherTypes: ReadonlySet<string> = new Set(['mac', 'dpop']);

/** The answer is JSON (RFC 6749, 5.1), or a form, as older servers send it, whatever its content type. */
function fieldsIn(text: string): JsonObject {
  const json = parseJsonOrUndefined(text);
  if (isJsonObject(json)) return json;
  return Object.fromEntries(new URLSearchParams(text.trim()));
}

function tokenIn({ status, headers, body }: HttpResponse): CachedToken {
  if (status < 200 || status > 299) {
    const message = `the token endpoint of the connector answered with status ${status}`;
    if (!isTransientStatus(status)) throw new OutboundError('action_refused', message, { status });
    throw new OutboundError('action_unavailable', message, { status, retryAfterMs: retryAfterOf(headers) });
  }
  const { access_token, token_type, expires_in } = fieldsIn(body.toString('utf8').replace(/^\uFEFF/, ''));
  if (otherTypes.has(String(token_type).trim().toLowerCase()))
    throw new AppError(
      'validation_failed',
      `the token endpoint of the connector answered with a token of the type ${String(token_type)}: bearer is expected`,
    );
  if (typeof access_token !== 'string' || !/^[\x21-\x7e]+$/.test(access_token))
    throw new AppError('validation_failed', 'the token endpoint of the connector answered without an access_token');
  const seconds = Number(expires_in);
  const lifetimeMs = (Number.isFinite(seconds) && seconds > 0 ? seconds : defaultLifetimeSeconds) * 1000;
  return { token: access_token, expiresAt: Date.now() + lifetimeMs - Math.min(earlyMs, lifetimeMs / 10) };
}
