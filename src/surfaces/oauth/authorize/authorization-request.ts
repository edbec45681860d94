import type { FindClient } from '../clients/client-document.js';
import type { OauthClientDocument } from '../../../auth/oauth/clients.js';
import { isRegisteredRedirect } from '../../../auth/oauth/redirect-uri.js';
import { OauthError } from '../oauth-error.js';
import { ownResource } from '../../../auth/oauth/resources.js';
import { defaultScopes, knownScopes, type Scope } from '../../../auth/oauth/scopes.js';

/** The scopes of OpenID Connect, which some clients always request. This service gives nothing for them. */
const openIdScopes: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']);
const challengeForm = /^[A-Za-z0-9_-]{43}$/;
const maxStateLength = 2048;

/**
 * The client and redirect URI that receive the response. Nothing is redirected before the URI is known to belong to the
 * client.
 */
interface Destination {
  client: OauthClientDocument;
  redirectUri: string;
  state: string | undefined;
}

export interface AuthorizationRequest extends Destination {
  codeChallenge: string;
  scopes: readonly Scope[];
  resource: string;
}

/**
 * Finds the destination of the response.
 * @throws OauthError for an unknown client and for a redirect URI that the client did not register; only the person
 * sees it
 */
export async function destinationOf(
  query: URLSearchParams,
  findClient: FindClient,
  address: string,
): Promise<Destination> {
  const id = only(query, 'client_id');
  if (id === undefined) throw new OauthError('invalid_request', 'the request names no client, or several');
  const client = await findClient(id, address);
  if (!client)
    throw new OauthError('invalid_client', 'the app that sent you here is not registered; start again from the app', {
      status: 400,
    });
  const redirectUri = only(query, 'redirect_uri');
  if (redirectUri === undefined || !isRegisteredRedirect(redirectUri, client.redirect_uris)) {
    throw new OauthError('invalid_request', 'the app asks to send you to an address that it has not registered');
  }
  return { client, redirectUri, state: only(query, 'state') };
}

/**
 * Reads the rest of the request (RFC 6749, 4.1.1; RFC 7636, 4.3; RFC 8707, 2). If it is invalid, returns the error to
 * send to the redirect URI.
 */
export function readAuthorizationRequest(
  query: URLSearchParams,
  destination: Destination,
  baseUrl: string,
): AuthorizationRequest | OauthError {
  const repeated = firstRepeated(query);
  if (repeated !== undefined)
    return new OauthError('invalid_request', `${repeated.slice(0, 40)} is sent more than once`);
  const field = (name: string) => query.get(name) ?? '';
  if (field('request') !== '') return new OauthError('request_not_supported', 'request objects are not supported');
  if (field('request_uri') !== '')
    return new OauthError('request_uri_not_supported', 'request objects are not supported');
  if (field('response_type') !== 'code')
    return new OauthError('unsupported_response_type', 'response_type must be code');
  if (!['', 'query'].includes(field('response_mode')))
    return new OauthError('invalid_request', 'response_mode must be query');
  if ((destination.state?.length ?? 0) > maxStateLength)
    return new OauthError('invalid_request', `state is longer than ${maxStateLength} characters`);
  if (field('code_challenge_method') !== 'S256')
    return new OauthError('invalid_request', 'code_challenge_method must be S256');
  if (!challengeForm.test(field('code_challenge')))
    return new OauthError('invalid_request', 'code_challenge must be a SHA-256 hash in base64url');
  const resources = [...new Set(query.getAll('resource'))];
  const resource =
    resources.length === 0 ? baseUrl : resources.length === 1 ? ownResource(baseUrl, resources[0] ?? '') : undefined;
  if (resource === undefined) return new OauthError('invalid_target', 'resource must be one address of this service');
  const asked = field('scope')
    .split(' ')
    .filter((name) => name !== '' && !openIdScopes.has(name));
  const scopes = asked.length === 0 ? defaultScopes : knownScopes(field('scope'));
  if (scopes.length === 0) return new OauthError('invalid_scope', 'scope must name at least one scope of this service');
  return { ...destination, codeChallenge: field('code_challenge'), scopes, resource };
}

/** Returns the first parameter that occurs again, except `resource` (RFC 6749, 3.1; RFC 8707, 2). */
function firstRepeated(query: URLSearchParams): string | undefined {
  const seen = new Set<string>();
  for (const name of query.keys()) {
    if (name !== 'resource' && seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function only(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  return value === '' || more.length > 0 ? undefined : value;
}

/** Returns the redirect URI with the response, the unchanged `state` and the issuer (RFC 9207). */
export function answerAddress(
  { redirectUri, state }: Pick<Destination, 'redirectUri' | 'state'>,
  answer: Record<string, string>,
  issuer: string,
): string {
  const parameters = new URLSearchParams({ ...answer, ...(state === undefined ? {} : { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${parameters.toString()}`;
}

export function errorAddress(destination: Destination, error: OauthError, issuer: string): string {
  return answerAddress(destination, { error: error.code, error_description: error.message }, issuer);
}
