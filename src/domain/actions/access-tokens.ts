import type { ClientCredentials } from '../connectors/rules/config.js';
import { LRUCache } from 'lru-cache';
import { withDeadline } from '../../outbound/deadline.js';
import type { HttpClient, HttpResponse } from '../../outbound/http-client.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { isTransientStatus, retryAfterOf } from '../../outbound/retry-hints.js';
import { AppError } from '../../errors.js';
import { sha256Hex } from '../../sha256.js';
import { parseJsonObject } from '../../json.js';

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
  const { token_url: url, client_id, client_secret, scope, send_as } = credentials;
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) });
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

function tokenIn({ status, headers, body }: HttpResponse): CachedToken {
  if (status !== 200) {
    const message = `the token endpoint of the connector answered with status ${status}`;
    if (!isTransientStatus(status)) throw new OutboundError('action_refused', message, { status });
    throw new OutboundError('action_unavailable', message, { status, retryAfterMs: retryAfterOf(headers) });
  }
  const { access_token, token_type = 'Bearer', expires_in } = parseJsonObject(body.toString('utf8'));
  if (
    typeof access_token !== 'string' ||
    !/^[\x21-\x7e]+$/.test(access_token) ||
    !/^bearer$/i.test(String(token_type))
  ) {
    throw new AppError('validation_failed', 'the token endpoint of the connector answered without a bearer token');
  }
  const seconds = Number(expires_in);
  const lifetimeMs = (Number.isFinite(seconds) && seconds > 0 ? seconds : defaultLifetimeSeconds) * 1000;
  return { token: access_token, expiresAt: Date.now() + lifetimeMs - Math.min(earlyMs, lifetimeMs / 10) };
}
