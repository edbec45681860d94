import { epochSeconds } from '../base/time.js';
import type { Collections } from '../stores/collections.js';
import { retireMcpTokens } from './retire-mcp-tokens.js';

/** Selects the credentials of one user, in all projects or in one, or the credentials of all users in one project. */
export type CredentialsOf = { userId: string; projectId?: string } | { userId?: undefined; projectId: string };

interface EndingDeps {
  mongo: {
    collections: Pick<
      Collections,
      'api_keys' | 'oauth_codes' | 'mcp_authorizations' | 'mcp_authorization_requests' | 'mcp_revocations'
    >;
  };
  auth: { sessions: Revocable };
  grants: Revocable;
}

interface Revocable {
  revokeAll(of: CredentialsOf, because: string): Promise<void>;
}

/**
 * Ends sessions and their tokens, OAuth grants and codes, the organization's API keys, and the tokens for MCP servers,
 * which a sweep revokes later. Safe to repeat.
 */
export async function endCredentials(
  { mongo: { collections }, auth, grants }: EndingDeps,
  organizationId: string,
  of: CredentialsOf,
  because: string,
): Promise<void> {
  await auth.sessions.revokeAll(of, because);
  await collections.oauth_codes.deleteMany(filterOf(of, 'grant.'));
  await grants.revokeAll(of, because);
  await collections.mcp_authorization_requests.deleteMany(filterOf(of));
  await retireMcpTokens(collections, filterOf(of));
  const keys = { 'scope.org_id': organizationId, ...filterOf(of, 'scope.'), revoked_at: null };
  await collections.api_keys.updateMany(keys, { $set: { revoked_at: epochSeconds() } });
}

/** Builds a filter on the fields `user_id` and `project_id` of the object at the path `at`. */
export function filterOf({ userId, projectId }: CredentialsOf, at = ''): Record<string, string> {
  return {
    ...(userId !== undefined && { [`${at}user_id`]: userId }),
    ...(projectId !== undefined && { [`${at}project_id`]: projectId }),
  };
}
