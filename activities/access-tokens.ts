import { createHash } from 'node:crypto';
import type { ClientCredentials } from '../src/connectors/config.js';
import type { HttpClient, HttpResponse } from '../src/outbound/http-client.js';
import { OutboundError } from '../src/outbound/outbound-error.js';
import { isPassingStatus, retryAfterOf } from '../src/outbound/retry-hints.js';
import { AppError } from '../src/errors.js';
import type { OpenConnector } from './action-call.js';

/** Access tokens by OAuth client credentials (RFC 6749, 4.4), kept in memory until shortly before they expire. */
export interface TokenSource {
  /** `refused` is a token that was answered with 401: it is not given again. @throws OutboundError, AppError as an action does */
  tokenFor(connector: OpenConnector, credentials: ClientCredentials, signal: AbortSignal, refused?: string): Promise<string>;
}

interface Held {
  token: string;
  expiresAt: number;
}

const timeoutMs = 20_000;
const heldAtMost = 1000;
const earlyMs = 30_000;
/** Where the answer does not say (RFC 6749, 5.1). */
const usualLifetimeS = 300;

export function createTokenSource(http: HttpClient): TokenSource {
  const held = new Map<string, Held>();
  return {
    async tokenFor({ id, sealed }, credentials, signal, refused) {
      const key = `${id}/${createHash('sha256').update(sealed).digest('hex')}`;
      const present = held.get(key);
      if (present && present.expiresAt > Date.now() && present.token !== refused) return present.token;
      const fetched = await fetchToken(http, credentials, signal);
      held.delete(key);
      held.set(key, fetched);
      const [oldest] = held.keys();
      if (held.size > heldAtMost && oldest !== undefined) held.delete(oldest);
      return fetched.token;
    },
  };
}

async function fetchToken(http: HttpClient, credentials: ClientCredentials, signal: AbortSignal): Promise<Held> {
  const { token_url: url, client_id, client_secret, scope, send_as } = credentials;
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) });
  if (send_as === 'body') for (const [name, value] of Object.entries({ client_id, client_secret })) form.set(name, value);
  const answer = await http.request({
    method: 'POST',
    url,
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    ...(send_as === 'basic' && { credentials: { below: url, headers: { authorization: basicOf(formText(client_id), formText(client_secret)) } } }),
    body: form.toString(),
    timeoutMs,
    signal,
  });
  return tokenIn(answer);
}

export function basicOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** RFC 6749, 2.3.1: id and secret are form-encoded before they are joined. */
function formText(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2);
}

function tokenIn({ status, headers, body }: HttpResponse): Held {
  if (status !== 200) {
    const message = `the token endpoint of the connector answered with status ${status}`;
    if (!isPassingStatus(status)) throw new OutboundError('action_refused', message, { status });
    throw new OutboundError('action_unavailable', message, { status, retryAfterMs: retryAfterOf(headers) });
  }
  const { access_token, token_type = 'Bearer', expires_in } = parse(body);
  if (typeof access_token !== 'string' || !/^[\x21-\x7e]+$/.test(access_token) || !/^bearer$/i.test(String(token_type))) {
    throw new AppError('validation_failed', 'the token endpoint of the connector answered without a bearer token');
  }
  const seconds = Number(expires_in);
  const lifetimeMs = (Number.isFinite(seconds) && seconds > 0 ? seconds : usualLifetimeS) * 1000;
  return { token: access_token, expiresAt: Date.now() + lifetimeMs - Math.min(earlyMs, lifetimeMs / 10) };
}

function parse(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
