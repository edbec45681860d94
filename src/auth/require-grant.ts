import { clientGrants, type Grant } from './grants.js';
import { holdsGrant, type Principal } from './principal.js';
import { AppError, type ErrorFacts } from '../errors.js';

/**
 * Returns the scopes that an OAuth client must request to get a missing scope. They include the client's present
 * scopes, so that a new consent does not remove any.
 * @returns undefined if consent cannot help: the caller is not an OAuth client, or no OAuth client can have the grant
 */
export function missingScope(
  { clientId, grants }: Pick<Principal, 'clientId' | 'grants'>,
  needed: Grant,
): Pick<ErrorFacts, 'neededScope' | 'scopes'> | undefined {
  if (clientId === undefined || !(clientGrants as readonly Grant[]).includes(needed)) return undefined;
  return { neededScope: needed, scopes: clientGrants.filter((scope) => scope === needed || grants.includes(scope)) };
}

/** @throws AppError `scope_denied`, with the missing scope for an OAuth client */
export function requireGrant(principal: Principal, grant: Grant): void {
  if (holdsGrant(principal, grant)) return;
  throw new AppError('scope_denied', `this call needs the grant ${grant}`, missingScope(principal, grant));
}

/**
 * Returns the URL of a resource's metadata (RFC 9728, 3.1).
 * @param path '' for the gateway as a whole
 */
export function resourceMetadataOf(baseUrl: string, path: '' | '/mcp' | '/sse' | '/v1' = ''): string {
  return `${baseUrl}/.well-known/oauth-protected-resource${path}`;
}
