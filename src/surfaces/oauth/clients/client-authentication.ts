import {
  secretMatches,
  type ClientMetadata,
  type Clients,
  type OauthClientDocument,
} from '../../../auth/oauth/clients.js';
import { OauthError } from '../oauth-error.js';

interface Presented {
  id: string;
  method: ClientMetadata['token_endpoint_auth_method'];
  secret: string;
}

/**
 * Authenticates the client of a token or revocation request (RFC 6749, 2.3) by the method that it registered.
 * @throws OauthError `invalid_client` (401), with the same text for an unknown client, a wrong secret and another
 * method
 */
export async function authenticateClient(
  clients: Clients,
  authorization: string | undefined,
  fields: ReadonlyMap<string, string>,
): Promise<OauthClientDocument> {
  const presented = presentedBy(authorization, fields);
  const client = presented && (await clients.find(presented.id));
  if (!client || client.token_endpoint_auth_method !== presented.method) throw refused();
  if (presented.method !== 'none' && !secretMatches(client, presented.secret)) throw refused();
  return client;
}

function presentedBy(authorization: string | undefined, fields: ReadonlyMap<string, string>): Presented | undefined {
  const id = fields.get('client_id');
  const secret = fields.get('client_secret');
  if (authorization !== undefined) {
    const basic = basicCredentials(authorization);
    if (!basic || (id !== undefined && id !== basic.id)) return undefined;
    if (secret !== undefined)
      throw new OauthError('invalid_request', 'the client must use only one authentication method');
    return basic;
  }
  if (id === undefined) return undefined;
  return secret === undefined ? { id, method: 'none', secret: '' } : { id, method: 'client_secret_post', secret };
}

/** Reads the credentials, whose parts are form-encoded before they are joined (RFC 6749, 2.3.1). */
function basicCredentials(authorization: string): Presented | undefined {
  const encoded = /^basic ([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1];
  const [, id, secret] = /^([^:]+):(.+)$/.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  try {
    return { id: formDecoded(id), method: 'client_secret_basic', secret: formDecoded(secret) };
  } catch {
    return undefined;
  }
}

function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function refused(): OauthError {
  return new OauthError('invalid_client', 'the client is unknown or did not authenticate as it registered');
}
