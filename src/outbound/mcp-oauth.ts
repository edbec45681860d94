import {
  discoverAuthorizationServerMetadata,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  OAuthError,
  refreshAuthorization,
  resourceUrlFromServerUrl,
  checkResourceAllowed,
  startAuthorization,
  type OAuthServerInfo,
} from '@modelcontextprotocol/client';
import type { HttpClient } from './http-client.js';
import { isLoopback, isSecure } from './secure-address.js';
import { clientAuthentication, registerAt, revokeOne, type ClientDocument } from './mcp-oauth-client.js';
import { refusal, withGuardedFetch, type Fetch } from './mcp-oauth-fetch.js';
import {
  Metadata,
  type IssuerAndClient,
  type OauthClient,
  type OauthTokens,
  type TokenIssuer,
} from './mcp-oauth-types.js';
import { OutboundError } from './outbound-error.js';

/** The error of an authorization server that will not accept this code, refresh token or client again. */
interface RefusedForGood {
  refused: string;
}

/** Returns whether the server refused the client itself, for example because it lost its registrations. */
export function isClientRefused({ refused }: RefusedForGood): boolean {
  return refused !== 'invalid_grant';
}

/**
 * This product as an OAuth client of an MCP server's authorization server (MCP, Authorization). All methods throw
 * OutboundError: `target_refused`, `timeout`, `unreachable`, `too_large`, `action_unavailable` or `action_refused`.
 */
export function createMcpOauth(http: Pick<HttpClient, 'fetchWith'>) {
  const using = <T>(work: (fetchFn: Fetch) => Promise<T>) => withGuardedFetch(http, work);
  return {
    /**
     * Reads the metadata of the protected resource (RFC 9728), then that of the authorization server (RFC 8414, OIDC
     * Discovery). A known `issuer` is the only authorization server that counts.
     */
    discover: (
      serverUrl: string,
      known: { scope?: string | undefined; issuer?: string | undefined },
    ): Promise<TokenIssuer> => using((fetchFn) => discover(fetchFn, serverUrl, known)),
    /** Uses the client metadata document if the server supports it. Otherwise registers a client (RFC 7591). */
    async clientAt({ metadata, scope }: TokenIssuer, document: ClientDocument): Promise<OauthClient> {
      const { client_id, ...registration } = document;
      if (metadata.client_id_metadata_document_supported && isDocumentFor(client_id, metadata.issuer))
        return { client_id };
      const { registration_endpoint: endpoint } = metadata;
      if (endpoint === undefined)
        throw refusal('knows neither client metadata documents nor registration: give the connector a client_id');
      const asked = { ...registration, ...authMethodAt(metadata), ...(scope !== undefined && { scope }) };
      return using((fetchFn) => registerAt(fetchFn, endpoint, asked));
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
            addClientAuthentication: clientAuthentication(client, metadata),
          }),
        ),
      ),
    refresh: ({ issuer: { metadata, resource }, client }: IssuerAndClient, refreshToken: string) =>
      using((fetchFn) => {
        const addClientAuthentication = clientAuthentication(client, metadata);
        const options = { metadata, clientInformation: client, refreshToken, resource, fetchFn };
        return tokensOf(refreshAuthorization(metadata.issuer, { ...options, addClientAuthentication }));
      }),
    /** Revokes both tokens (RFC 7009), the refresh token first. Returns false if the server does not support it. */
    async revoke(
      { issuer: { metadata }, client }: IssuerAndClient,
      { refresh_token, access_token }: OauthTokens,
    ): Promise<boolean> {
      const { revocation_endpoint: endpoint } = metadata;
      if (endpoint === undefined || !isSecure(endpoint)) return false;
      await using(async (fetchFn) => {
        const authenticate = clientAuthentication(client, metadata);
        const revoke = (token: string, hint: string) => revokeOne(fetchFn, endpoint, authenticate, { token, hint });
        if (refresh_token !== undefined) await revoke(refresh_token, 'refresh_token');
        await revoke(access_token, 'access_token');
      });
      return true;
    },
  };
}

export type McpOauth = ReturnType<typeof createMcpOauth>;

async function discover(
  fetchFn: Fetch,
  serverUrl: string,
  { scope: requestedScope, issuer }: { scope?: string | undefined; issuer?: string | undefined },
): Promise<TokenIssuer> {
  const challenge = await challengeOf(fetchFn, serverUrl);
  const found = await discoverOAuthServerInfo(serverUrl, {
    fetchFn,
    ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
  });
  if (issuer !== undefined && found.authorizationServerMetadata?.issuer !== issuer)
    found.authorizationServerMetadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
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

/** Returns whether the authorization server can read the document: over https, or if both are on this machine. */
function isDocumentFor(clientId: string, issuer: string): boolean {
  return clientId.startsWith('https:') || (isSecure(clientId) && isLoopback(new URL(issuer).hostname));
}

function authMethodAt({ token_endpoint_auth_methods_supported: supported }: TokenIssuer['metadata']) {
  // The default of RFC 8414.
  const known = supported ?? ['client_secret_basic'];
  const method = ['none', 'client_secret_basic', 'client_secret_post'].find((each) => known.includes(each));
  return { token_endpoint_auth_method: method ?? 'none' };
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
