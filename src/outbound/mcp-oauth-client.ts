import { selectClientAuthMethod, type OAuthClientMetadata } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isJsonObject, parseJsonOrUndefined } from '../base/json.js';
import { parseWithProblems } from '../base/validation.js';
import { refusal, type Fetch } from './mcp-oauth-fetch.js';
import type { OauthClient, TokenIssuer } from './mcp-oauth-types.js';
import { OutboundError } from './outbound-error.js';
import { isTransientStatus } from './retry-hints.js';

const maxTextLength = 300;

/** A client metadata document. `client_id` is its URL. */
export type ClientDocument = OAuthClientMetadata & { client_id: string };

/** The members of the answer to a registration that this product uses (RFC 7591, 3.2.1). Servers omit others. */
const Registered = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().optional(),
  client_secret_expires_at: z.coerce.number().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

/** Registers a client (RFC 7591). The text of a refusal is the server's: nothing secret was sent. */
export async function registerAt(fetchFn: Fetch, endpoint: string, metadata: object): Promise<OauthClient> {
  const response = await fetchFn(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(metadata),
  });
  const { status } = response;
  const text = await response.text();
  const answer = parseJsonOrUndefined(text);
  if (!response.ok) {
    const reason = reasonOf(answer) ?? (/^\s*</.test(text) ? '' : text.trim());
    const message = `the authorization server of the MCP server refused the registration with status ${status}: ${reason.slice(0, maxTextLength)}`;
    throw new OutboundError(isTransientStatus(status) ? 'action_unavailable' : 'action_refused', message, { status });
  }
  const registered = parseWithProblems(Registered, answer, 'the answer');
  if ('problems' in registered)
    throw refusal(`answered the registration in a wrong form: ${registered.problems.join('; ')}`);
  const { client_secret, token_endpoint_auth_method, ...others } = registered.data;
  return {
    ...others,
    ...(client_secret !== undefined && client_secret !== '' && { client_secret }),
    ...(token_endpoint_auth_method !== '' && { token_endpoint_auth_method }),
  };
}

function reasonOf(answer: unknown): string | undefined {
  if (!isJsonObject(answer)) return undefined;
  const texts = [answer.error, answer.error_description ?? answer.message ?? answer.detail];
  return texts.filter((each) => typeof each === 'string').join(': ') || undefined;
}

type Authenticate = (headers: Headers, form: URLSearchParams) => void;

const knownMethods: ReadonlySet<string | undefined> = new Set(['none', 'client_secret_basic', 'client_secret_post']);

/**
 * Adds the credentials of the client to a request (RFC 6749, 2.3.1), by the method of its registration or otherwise one
 * that the server supports.
 */
export function clientAuthentication(client: OauthClient, metadata: TokenIssuer['metadata']): Authenticate {
  const { client_id, client_secret, token_endpoint_auth_method: registered } = client;
  const supported = metadata.token_endpoint_auth_methods_supported ?? [];
  const method = knownMethods.has(registered) ? registered : selectClientAuthMethod(client, supported);
  return (headers, form) => {
    if (client_secret === undefined || method === 'none') form.set('client_id', client_id);
    else if (method === 'client_secret_post') {
      form.set('client_id', client_id);
      form.set('client_secret', client_secret);
    } else {
      // Each part is encoded first, so that both can contain any character.
      const credentials = [client_id, client_secret].map(encodeURIComponent).join(':');
      headers.set('authorization', `Basic ${btoa(credentials)}`);
    }
  };
}

export async function revokeOne(
  fetchFn: Fetch,
  endpoint: string,
  authenticate: Authenticate,
  { token, hint }: { token: string; hint: string },
): Promise<void> {
  const form = new URLSearchParams({ token, token_type_hint: hint });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  authenticate(headers, form);
  const { ok, status, body } = await fetchFn(endpoint, { method: 'POST', headers, body: form });
  await body?.cancel();
  if (ok) return;
  const message = `the authorization server answered the revocation with status ${status}`;
  throw new OutboundError(isTransientStatus(status) ? 'action_unavailable' : 'action_refused', message, { status });
}
