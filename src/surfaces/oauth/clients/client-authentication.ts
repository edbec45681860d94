import type { Request } from 'express';
import { secretMatches, type Clients, type OauthClientDocument } from '../../../auth/oauth/clients.js';
import { OauthError } from '../oauth-error.js';
import { assertionType, clientOfAssertion, type VerifyAssertion } from './client-assertion.js';
import type { FindClient } from './client-document.js';

/** What a request contains to authenticate its client. */
interface Presented {
  id: string;
  secret?: string | undefined;
  assertion?: string | undefined;
}

interface ClientAuthenticationDeps {
  clients: Pick<Clients, 'find'>;
  findClient: FindClient;
  verify: VerifyAssertion;
}

export type AuthenticateClient = ReturnType<typeof createAuthenticateClient>;

/**
 * Authenticates the client of a token or revocation request (RFC 6749, 2.3; RFC 7523, 2.2). A secret can be sent by either
 * method, because clients often send it by another one than they registered. A client that signs must sign.
 */
export function createAuthenticateClient({ clients, findClient, verify }: ClientAuthenticationDeps) {
  /**
   * @throws OauthError `invalid_client` (401), with the same text for an unknown client, a wrong secret or assertion, and
   *   a missing one
   */
  return async (req: Request, fields: ReadonlyMap<string, string>): Promise<OauthClientDocument> => {
    const presented = presentedBy(req.get('authorization'), fields);
    const client = presented && (await clients.find(presented.id));
    if (!client) throw refused();
    const { secret, assertion } = presented;
    const { token_endpoint_auth_method: method, secret_hash } = client;
    if (method === 'private_key_jwt') {
      if (assertion === undefined || secret !== undefined) throw refused();
      // The keys of a document can have changed since it was read.
      const reread = () =>
        findClient(client._id, req.ip ?? '').then(
          (found) => found ?? client,
          () => client,
        );
      if (!(await verify(client, assertion, reread))) throw refused();
      return client;
    }
    if (assertion !== undefined) throw refused();
    const isProven =
      secret_hash === null ? secret === undefined : secret !== undefined && secretMatches(client, secret);
    if (!isProven) throw refused();
    return client;
  };
}

function presentedBy(authorization: string | undefined, fields: ReadonlyMap<string, string>): Presented | undefined {
  const id = fields.get('client_id');
  const secret = fields.get('client_secret');
  const assertion = fields.get('client_assertion');
  if ([authorization, secret, assertion].filter((each) => each !== undefined).length > 1)
    throw new OauthError('invalid_request', 'the client must use only one authentication method');
  if (assertion !== undefined) {
    if (fields.get('client_assertion_type') !== assertionType)
      throw new OauthError('invalid_request', `client_assertion_type must be ${assertionType}`);
    const named = clientOfAssertion(assertion);
    return named === undefined || (id !== undefined && id !== named) ? undefined : { id: named, assertion };
  }
  if (authorization !== undefined) {
    const basic = basicCredentials(authorization);
    return basic && (id === undefined || id === basic.id) ? basic : undefined;
  }
  return id === undefined ? undefined : { id, secret };
}

/**
 * Reads the credentials, whose parts are form-encoded before they are joined (RFC 6749, 2.3.1). A public client may send an
 * empty secret. An id that is an address can come without that encoding, so the last colon separates.
 */
function basicCredentials(authorization: string): Presented | undefined {
  const encoded = /^basic ([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1];
  const [, id, secret] = /^(.+):([^:]*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  try {
    return { id: formDecoded(id), secret: secret === '' ? undefined : formDecoded(secret) };
  } catch {
    return undefined;
  }
}

function formDecoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function refused(): OauthError {
  return new OauthError('invalid_client', 'the client is unknown or did not authenticate as it must');
}
