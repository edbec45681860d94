import type { OauthTokens, IssuerAndClient } from '../../../outbound/mcp-oauth-types.js';
import { defineCollection, expiring } from '../../../stores/collections.js';

/** For whom a connector stores tokens: for one person, or for everybody in its project. */
export type TokenOwner = 'person' | 'project';

/** The sealed part of an authorization. */
export interface SealedTokens {
  party: IssuerAndClient;
  tokens: OauthTokens;
}

/** The sealed part of a request, which waits until the person returns. */
export interface SealedRequest {
  party: IssuerAndClient;
  verifier: string;
  redirectUri: string;
}

/** Which connector is authorized, by whom and for whom. */
interface Authorized {
  connector_id: string;
  project_id: string;
  /** The person whose account at the server is used. */
  user_id: string;
  owner: TokenOwner;
  /** The URL of the MCP server, which the tokens are for. */
  server: string;
}

/** The tokens of a connector for one owner. `_id` is from `authorizationId`. Times are epoch seconds. */
export interface McpAuthorizationDocument extends Authorized {
  _id: string;
  scope: string | null;
  /** `SealedTokens`, bound to `_id` and `server`. */
  sealed: string;
  /** When the access token expires; null if the server did not say. */
  valid_until: number | null;
  /** A little before `valid_until`; null if the tokens cannot be refreshed. */
  refresh_at: number | null;
  /** Changes with every change of the tokens. */
  revision: string;
  /** Held by the process that refreshes. `failed` is the reason why the last holder failed. */
  lease: { id: string; until: number; failed?: string } | null;
  /** Set when the authorization server refused the refresh token, or when a token without one is no longer valid. */
  ended: { at: number; reason: string } | null;
  authorized_at: number;
  /** The scopes that calls needed in addition. The next authorization requests them as well. */
  needed_scope?: string | null;
}

/** A person who was sent to an authorization server. `_id` is the SHA-256 of `state`. */
export interface McpAuthorizationRequestDocument extends Authorized {
  _id: string;
  /** `SealedRequest`, bound to `_id`. */
  sealed: string;
  expires_at: Date;
}

/** A registration at an authorization server. `_id` is `<connector id>/<SHA-256 of issuer and redirect URI>`. */
interface McpOauthClientDocument {
  _id: string;
  connector_id: string;
  /** `OauthClient`, bound to `_id`. Empty for a client that somebody else registered, which is in the configuration. */
  sealed: string;
  /** The only authorization server that receives the client of the configuration. */
  issuer?: string;
}

const preRegistered = 'pre-registered';

export function preRegisteredId(connectorId: string, clientHash: string): string {
  return `${connectorId}/${preRegistered}/${clientHash}`;
}

/** The registrations that this product made for a connector. */
export function ownRegistrations(connector_id: string) {
  return { connector_id, issuer: { $exists: false } };
}

/**
 * Tokens that were deleted from the store and must still be revoked at their authorization server. `_id` is their revision.
 * Times are epoch seconds.
 */
export interface McpRevocationDocument {
  _id: string;
  /** `sealed` is bound to it and to `server`. */
  authorization_id: string;
  connector_id: string;
  project_id: string;
  server: string;
  /** `SealedTokens`. */
  sealed: string;
  retired_at: number;
  attempts: number;
  /** The time of the next attempt. */
  next_at: number;
}

export function authorizationId(connectorId: string, owner: TokenOwner, userId: string): string {
  return owner === 'project' ? `${connectorId}/project` : `${connectorId}/person/${userId}`;
}

export const mcpAuthorizationsCollection = defineCollection('mcp_authorizations', {
  indexes: [
    { keys: { connector_id: 1 } },
    { keys: { user_id: 1, project_id: 1, owner: 1, 'ended.at': -1, _id: -1 } },
    { keys: { project_id: 1, owner: 1, 'ended.at': -1, _id: -1 } },
  ],
  majorityRead: true,
});
export const mcpAuthorizationRequestsCollection = defineCollection('mcp_authorization_requests', {
  indexes: [
    { keys: { connector_id: 1 } },
    { keys: { user_id: 1, project_id: 1 } },
    { keys: { project_id: 1 } },
    expiring,
  ],
  majorityRead: true,
});
export const mcpOauthClientsCollection = defineCollection('mcp_oauth_clients', {
  indexes: [{ keys: { connector_id: 1 } }],
});
export const mcpRevocationsCollection = defineCollection('mcp_revocations', { indexes: [{ keys: { next_at: 1 } }] });

declare module '../../../stores/collections.js' {
  interface Documents {
    mcp_authorizations: McpAuthorizationDocument;
    mcp_authorization_requests: McpAuthorizationRequestDocument;
    mcp_oauth_clients: McpOauthClientDocument;
    mcp_revocations: McpRevocationDocument;
  }
}
