import { epochSeconds } from '../time.js';
import type { AuthDeps } from './create-auth.js';

/** A user's everywhere or on one project, or everybody's on one project. */
export type CredentialsOf = { userId: string; projectId?: string } | { userId?: undefined; projectId: string };

/** Ends a grant's tokens; the authorization server hands it over (`src/oauth`). */
interface GrantsPort {
  revokeAll(of: CredentialsOf, because: string): Promise<void>;
}

/**
 * Ends sessions with their tokens, grants and codes of OAuth clients, and the organization's API keys. A repeat changes
 * nothing.
 */
export async function endCredentials(
  { mongo: { collections }, auth, grants }: AuthDeps & { grants: GrantsPort },
  organizationId: string,
  of: CredentialsOf,
  because: string,
): Promise<void> {
  await auth.sessions.revokeAll(of, because);
  await collections.oauth_codes.deleteMany(filterOf(of, 'grant.'));
  await grants.revokeAll(of, because);
  const keys = { 'scope.org_id': organizationId, ...filterOf(of, 'scope.'), revoked_at: null };
  await collections.api_keys.updateMany(keys, { $set: { revoked_at: epochSeconds() } });
}

/** By the fields `user_id` and `project_id`, wherever a record has them. */
export function filterOf({ userId, projectId }: CredentialsOf, at = ''): Record<string, string> {
  return { ...(userId !== undefined && { [`${at}user_id`]: userId }), ...(projectId !== undefined && { [`${at}project_id`]: projectId }) };
}
