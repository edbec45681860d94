import {
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  OAuthError,
  refreshAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  checkResourceAllowed,
  startAuthorization,
  type OAuthClientMetadata,
  type OAuthServerInfo,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { withDeadline } from './deadline.js';
import type { HttpClient } from './http-client.js';
import { isOutboundError, OutboundError } from './outbound-error.js';
import { isTransientStatus } from './retry-hints.js';

const maxBytes = 256 * 1024;
const timeoutMs = 20_000;

/** The stored part of an authorization server's metadata (RFC 8414, section 2). */
const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  registration_endpoint: z.string().optional(),
  /** Absent in records from before this product revoked tokens. */
  revocation_endpoint: z.string().optional(),
  response_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()).default([]),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});

/** The authorization server of an MCP server, and what to request from it. Plain JSON, which is stored. */
export interface TokenIssuer {
  metadata: z.infer<typeof Metadata>;
  /** The resource indicator (RFC 8707). */
  resource: string;
  scope?: string | undefined;
}

/** The registration of this product at one authorization server. */
export interface OauthClient {
  client_id: string;
  client_secret?: string | undefined;
  /** Epoch seconds. 0 means never (RFC 7591, 3.2.1). */
  client_secret_expires_at?: number | undefined;
  token_endpoint_auth_method?: string | undefined;
}

export interface OauthTokens {
  access_token: string;
  refresh_token?: string | undefined;
  /** Seconds. */
  expires_in?: number | undefined;
  scope?: string | undefined;
}

/** The error of an authorization server that will not accept this code, refresh token or client again. */
interface RefusedForGood {
  refused: string;
}

/** Returns whether the server refused the client itself, for example because it lost its registrations. */
export function isClientRefused({ refused }: RefusedForGood): boolean {
  return refused !== 'invalid_grant';
}

/** A client metadata document. `client_id` is its URL. */
type ClientDocument = OAuthClientMetadata & { client_id: string };

export interface IssuerAndClient {
  issuer: TokenIssuer;
  client: OauthClient;
}

type Fetch = typeof fetch;

/**
 * This product as an OAuth client of an MCP server's authorization server (MCP, Authorization). All methods throw
 * OutboundError: `target_refused`, `timeout`, `unreachable`, `too_large`, `action_unavailable` or `action_refused`.
 */
export function createMcpOauth(http: Pick<HttpClient, 'fetchWith'>) {
  const using = <T>(work: (fetchFn: Fetch) => Promise<T>) => withGuardedFetch(http, work);
  return {
    /**
     * Reads the metadata of the protected resource (RFC 9728), then that of the authorization server (RFC 8414, OIDC
     * Discovery).
     */
    discover: (serverUrl: string, scope: string | undefined): Promise<TokenIssuer> =>
      using((fetchFn) => discover(fetchFn, serverUrl, scope)),
    /** Uses the client metadata document if the server supports it. Otherwise registers a client (RFC 7591). */
    async clientAt({ metadata, scope }: TokenIssuer, document: ClientDocument): Promise<OauthClient> {
      const { client_id, ...registration } = document;
      if (metadata.client_id_metadata_document_supported && isDocumentFor(client_id, metadata.issuer))
        return { client_id };
      if (metadata.registration_endpoint === undefined)
        throw refusal('knows neither client metadata documents nor registration, one of which is needed');
      const clientMetadata = { ...registration, token_endpoint_auth_method: authMethodAt(metadata) };
      return using((fetchFn) =>
        registerClient(metadata.issuer, { metadata, clientMetadata, fetchFn, ...(scope !== undefined && { scope }) }),
      );
    },
    /** Returns the URL for the person, and the PKCE verifier (S256). */
    async begin(
      { issuer: { metadata, resource, scope }, client }: IssuerAndClient,
      { redirectUri, state }: { redirectUri: string; state: string },
    ): Promise<{ url: string; verifier: string }> {
      const { authorizationUrl, codeVerifier } = await startAuthorization(metadata.issuer, {
        ...{ metadata, clientInformation: client, redirectUrl: redirectUri, state, resource },
        ...(scope !== undefined && { scope }),
      });
      return { url: authorizationUrl.href, verifier: codeVerifier };
    },
    /** Exchanges a code for tokens. Checks `iss` (RFC 9207) before it sends the code. */
    exchange: (
      { issuer: { metadata, resource }, client }: IssuerAndClient,
      answer: { code: string; iss: string | undefined; verifier: string; redirectUri: string },
    ) =>
      using((fetchFn) =>
        tokensOf(
          exchangeAuthorization(metadata.issuer, {
            ...{ metadata, clientInformation: client, redirectUri: answer.redirectUri, resource, fetchFn },
            ...{ authorizationCode: answer.code, codeVerifier: answer.verifier },
            ...(answer.iss !== undefined && { iss: answer.iss }),
          }),
        ),
      ),
    refresh: ({ issuer: { metadata, resource }, client }: IssuerAndClient, refreshToken: string) =>
      using((fetchFn) => {
        const options = { metadata, clientInformation: client, refreshToken, resource, fetchFn };
        return tokensOf(refreshAuthorization(metadata.issuer, options));
      }),
    /** Revokes both tokens (RFC 7009), the refresh token first. Returns false if the server does not support it. */
    async revoke(
      { issuer: { metadata }, client }: IssuerAndClient,
      { refresh_token, access_token }: OauthTokens,
    ): Promise<boolean> {
      const { revocation_endpoint: endpoint } = metadata;
      if (endpoint === undefined || !isSecure(endpoint)) return false;
      await using(async (fetchFn) => {
        if (refresh_token !== undefined) await revokeOne(fetchFn, endpoint, client, refresh_token, 'refresh_token');
        await revokeOne(fetchFn, endpoint, client, access_token, 'access_token');
      });
      return true;
    },
  };
}

export type McpOauth = ReturnType<typeof createMcpOauth>;

async function revokeOne(
  fetchFn: Fetch,
  endpoint: string,
  { client_id, client_secret, token_endpoint_auth_method: method }: OauthClient,
  token: string,
  token_type_hint: 'access_token' | 'refresh_token',
): Promise<void> {
  const form = new URLSearchParams({ token, token_type_hint });
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  if (client_secret === undefined || method === 'client_secret_post') form.set('client_id', client_id);
  if (client_secret !== undefined && method === 'client_secret_post') form.set('client_secret', client_secret);
  if (client_secret !== undefined && method !== 'client_secret_post')
    // Encode each part first (RFC 6749, 2.3.1).
    headers.set('authorization', `Basic ${btoa([client_id, client_secret].map(encodeURIComponent).join(':'))}`);
  const { ok, status, body } = await fetchFn(endpoint, { method: 'POST', headers, body: form });
  await body?.cancel();
  if (ok) return;
  const message = `the authorization server answered the revocation with status ${status}`;
  throw new OutboundError(isTransientStatus(status) ? 'action_unavailable' : 'action_refused', message, { status });
}

/**
 * Applies the guard and one time limit to all requests. Libraries hide the errors of `fetch`, so the first failure is
 * thrown.
 */
async function withGuardedFetch<T>(http: Pick<HttpClient, 'fetchWith'>, work: (fetchFn: Fetch) => Promise<T>) {
  const failures: OutboundError[] = [];
  const guarded = http.fetchWith({ maxBytes, failed: (error) => void failures.push(error) });
  return withDeadline({ timeoutMs, signal: new AbortController().signal }, async (signal) => {
    const result = await work((input, init) => guarded(input, { ...init, signal })).catch((error: unknown) => {
      throw failures[0] ?? outboundErrorOf(error);
    });
    if (failures[0]) throw failures[0];
    return result;
  });
}

async function discover(fetchFn: Fetch, serverUrl: string, requestedScope: string | undefined): Promise<TokenIssuer> {
  const challenge = await challengeOf(fetchFn, serverUrl);
  const found = await discoverOAuthServerInfo(serverUrl, {
    fetchFn,
    ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
  });
  const metadata = Metadata.safeParse(found.authorizationServerMetadata).data;
  if (!metadata) throw refusal('publishes no metadata (RFC 8414)');
  // A server whose metadata lists no methods does not support PKCE (MCP, Authorization code protection).
  if (!metadata.code_challenge_methods_supported.includes('S256')) throw refusal('does not support PKCE with S256');
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  for (const address of [authorization_endpoint, token_endpoint, registration_endpoint ?? token_endpoint])
    if (!isSecure(address)) throw refusal('has an endpoint that is not https');
  return {
    metadata,
    resource: resourceOf(serverUrl, found.resourceMetadata),
    scope: scopeOf(requestedScope ?? challenge.scope ?? found.resourceMetadata?.scopes_supported?.join(' '), found),
  };
}

/** Returns the challenge of the server to a request without a token (RFC 9728, 5.1). */
async function challengeOf(fetchFn: Fetch, serverUrl: string) {
  const answer = await fetchFn(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await answer.body?.cancel();
  return answer.status === 401 ? extractWWWAuthenticateParams(answer) : {};
}

function resourceOf(serverUrl: string, metadata: OAuthServerInfo['resourceMetadata']): string {
  const requestedResource = resourceUrlFromServerUrl(serverUrl);
  if (!metadata) return requestedResource.href;
  if (!checkResourceAllowed({ requestedResource, configuredResource: metadata.resource }))
    throw new OutboundError('action_refused', 'the metadata of the MCP server describes another resource');
  return metadata.resource;
}

/** Adds `offline_access` if the server supports it, because such servers issue refresh tokens only for this scope. */
function scopeOf(scope: string | undefined, { authorizationServerMetadata }: OAuthServerInfo): string | undefined {
  const knowsOffline = authorizationServerMetadata?.scopes_supported?.includes('offline_access');
  if (scope === undefined || !knowsOffline || scope.split(' ').includes('offline_access')) return scope;
  return `${scope} offline_access`;
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function isSecure(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
}

/** Returns whether the authorization server can read the document: over https, or if both are on this machine. */
function isDocumentFor(clientId: string, issuer: string): boolean {
  return clientId.startsWith('https:') || (isSecure(clientId) && loopback.test(new URL(issuer).hostname));
}

function authMethodAt({ token_endpoint_auth_methods_supported: supported }: TokenIssuer['metadata']): string {
  // The default of RFC 8414.
  const known = supported ?? ['client_secret_basic'];
  return ['none', 'client_secret_basic', 'client_secret_post'].find((each) => known.includes(each)) ?? 'none';
}

const endings: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

async function tokensOf(answer: Promise<OauthTokens & { token_type: string }>): Promise<OauthTokens | RefusedForGood> {
  try {
    const { access_token, refresh_token, expires_in, scope, token_type } = await answer;
    if (!/^[\x21-\x7e]+$/.test(access_token) || !/^bearer$/i.test(token_type))
      throw refusal('answered without a bearer token');
    return { access_token, refresh_token, expires_in, scope };
  } catch (error) {
    if (error instanceof OAuthError && endings.has(error.code)) return { refused: error.code };
    throw error;
  }
}

const passing: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable', 'too_many_requests']);

/** Keeps only the codes of library errors, because their messages can contain sent data. */
function outboundErrorOf(error: unknown): unknown {
  if (isOutboundError(error)) return error;
  if (error instanceof OAuthError) {
    const code = error.code.replace(/[^a-z_]/g, '').slice(0, 60);
    if (passing.has(code)) return new OutboundError('action_unavailable', `the authorization server answered ${code}`);
    return refusal(`refused: ${code}`);
  }
  if (!(error instanceof Error)) return error;
  if (error.name === 'IssuerMismatchError') return refusal('is not the one that was asked (issuer)');
  return refusal(`cannot be used (${error.name})`);
}

function refusal(what: string): OutboundError {
  return new OutboundError('action_refused', `the authorization server of the MCP server ${what}`);
}
