import { clientGrants, grantableGrants, grantsOfRoles, memberRoles, rightsOf, rolesOf, type Grant } from './grants.js';
import { holdsGrant, isPerson, permits, type Permission, type Principal } from './principal.js';
import { AppError, type ErrorFacts } from '../base/errors.js';

/**
 * Returns the scopes that an OAuth client must request to get a missing scope. They include the client's present
 * scopes, so that a new consent does not remove any.
 * @returns undefined if consent cannot help: the caller is not an OAuth client, no OAuth client can have the grant, or
 *   the roles of the person cannot give it
 */
export function missingScope(
  principal: Pick<Principal, 'clientId' | 'grants' | 'role' | 'roles'>,
  needed: Grant,
): Pick<ErrorFacts, 'neededScope' | 'scopes'> | undefined {
  const { clientId, grants } = principal;
  if (clientId === undefined || !(clientGrants as readonly Grant[]).includes(needed)) return undefined;
  if (!grantableGrants(rolesOf(principal)).includes(needed)) return undefined;
  return { neededScope: needed, scopes: clientGrants.filter((scope) => scope === needed || grants.includes(scope)) };
}

/** @throws AppError `scope_denied`, with the missing scope for an OAuth client */
export function requireGrant(principal: Principal, grant: Grant): void {
  requirePermission(principal, { grant });
}

/** @throws AppError `scope_denied`, with the missing scope for an OAuth client */
export function requirePermission(principal: Principal, permission: Permission): void {
  const missing = whatIsMissing(principal, permission);
  if (missing === undefined) return;
  const { grant } = permission;
  const facts = grant === 'any' || principal.grants.includes(grant) ? undefined : missingScope(principal, grant);
  throw new AppError('scope_denied', `this call needs ${missing}`, facts);
}

/** What the caller lacks, as text; undefined if it has the permission. */
export function whatIsMissing(principal: Principal, permission: Permission): string | undefined {
  if (permits(principal, permission)) return undefined;
  const { grant } = permission;
  const roles = `one of the roles ${rolesWith(permission).join(', ')}`;
  if (grant === 'any' || holdsGrant(principal, grant)) return roles;
  return isPerson(principal) ? `the grant ${grant}: ${roles}` : `the grant ${grant}`;
}

/** The roles whose people have the permission. */
export function rolesWith({ grant, right }: Permission): readonly string[] {
  return memberRoles.filter((role) => {
    if (right) return right.some((each) => rightsOf([role]).has(each));
    return grant === 'any' || grantsOfRoles([role]).includes(grant);
  });
}

/**
 * Returns the URL of a resource's metadata (RFC 9728, 3.1).
 * @param path '' for the gateway as a whole
 */
export function resourceMetadataOf(baseUrl: string, path: '' | '/mcp' | '/sse' | '/v1' = ''): string {
  return `${baseUrl}/.well-known/oauth-protected-resource${path}`;
}
