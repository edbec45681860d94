import { AppError } from '../../../base/errors.js';
import type { OauthClient, TokenIssuer } from '../../../outbound/mcp-oauth-types.js';
import { sha256Hex } from '../../../base/hash.js';
import { insertOnce } from '../../../stores/insert-once.js';
import type { OauthAuth } from '../../connectors/rules/config.js';
import type { Deps } from '../../deps.js';
import { preRegisteredId } from '../record/authorizations.js';

const methods = { basic: 'client_secret_basic', body: 'client_secret_post' } as const;

interface PreRegistration {
  connectorId: string;
  url: string;
  auth: OauthAuth;
}

/**
 * The client that somebody registered at the authorization server and gave to the connector. It comes before all other ways
 * to register (MCP authorization, client registration). Its secret goes to one authorization server only: the one that the
 * connector names, or that of the first authorization. The MCP server says which one it is, so it could name another later.
 * @throws AppError `conflict` for another authorization server
 */
export async function preRegistered(
  { collections }: Deps['mongo'],
  { connectorId, url, auth: { client_id, client_secret, send_as, issuer: named } }: PreRegistration,
  { metadata: { issuer } }: TokenIssuer,
): Promise<OauthClient | undefined> {
  if (client_id === undefined) return undefined;
  if (named === undefined) {
    const _id = preRegisteredId(connectorId, sha256Hex(JSON.stringify([url, client_id, client_secret])));
    const bound = await insertOnce(collections.mcp_oauth_clients, {
      _id,
      connector_id: connectorId,
      sealed: '',
      issuer,
    });
    if (bound.issuer !== issuer)
      throw new AppError(
        'conflict',
        `the MCP server now names another authorization server (${issuer}) than at the first authorization (${bound.issuer}), which must not receive the client: if this is right, set auth.issuer of the connector to it`,
      );
  }
  const method = send_as === undefined ? undefined : methods[send_as];
  return {
    client_id,
    ...(client_secret !== undefined && { client_secret }),
    ...(client_secret === undefined
      ? { token_endpoint_auth_method: 'none' }
      : method && { token_endpoint_auth_method: method }),
  };
}
