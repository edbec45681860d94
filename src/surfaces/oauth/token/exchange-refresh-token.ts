import type { OauthClientDocument } from '../../../auth/oauth/clients.js';
import { requiredField } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import { ownResource } from '../../../auth/oauth/resources.js';
import { grantableScopes, knownScopes, type Scope } from '../../../auth/oauth/scopes.js';
import { readCurrentRoles, tokenAnswer, type TokenAnswer } from '../../../auth/oauth/access-token.js';
import { auditGrant } from '../../../auth/oauth/audit-grant.js';
import type { TokenDeps } from './token-deps.js';

/**
 * Exchanges a refresh token (RFC 6749, 6). It always rotates the token and grants only what the person could still
 * consent to today.
 * @throws OauthError `invalid_grant`, so that the client starts a new authorization
 */
export async function exchangeRefreshToken(
  deps: TokenDeps,
  client: OauthClientDocument,
  fields: ReadonlyMap<string, string>,
  now: number,
): Promise<TokenAnswer> {
  if (!client.grant_types.includes('refresh_token'))
    throw new OauthError('unauthorized_client', 'the client did not register for refresh_token');
  const found = await deps.grants.find(requiredField(fields, 'refresh_token'));
  if (found?.grant.client_id !== client._id) throw refused();
  const { grant, presented } = found;
  const scopes = narrowed(grant.scopes, fields.get('scope'));
  const resource = fields.get('resource');
  if (resource !== undefined && ownResource(deps.baseUrl(), resource) !== grant.resource) {
    throw new OauthError('invalid_target', 'the token was issued for another resource');
  }
  const current = await readCurrentRoles(deps, grant);
  const allowed = current ? grantableScopes(current.roles) : [];
  if (!current || !grant.scopes.some((scope) => allowed.includes(scope))) {
    await deps.grants.revoke(grant._id, 'the person can no longer grant any of its scopes');
    throw refused();
  }
  const remaining = scopes.filter((scope) => allowed.includes(scope));
  if (remaining.length === 0) throw new OauthError('invalid_scope', 'the person can no longer grant these scopes');
  const { refreshToken, ended } = await deps.grants.rotate(grant, presented, now);
  if (ended) await auditGrant(deps, ended, 'oauth-refresh-reuse');
  if (refreshToken === undefined) throw refused();
  return tokenAnswer(deps.auth.tokens, { grant, current, scopes: remaining, refreshToken, issuer: deps.baseUrl() });
}

/** A client may request fewer scopes than it was granted for one token, but never more. */
function narrowed(granted: readonly Scope[], asked: string | undefined): readonly Scope[] {
  if (asked === undefined) return granted;
  const names = asked.split(' ').filter((name) => name !== '');
  const known = knownScopes(asked);
  if (known.length < new Set(names).size || known.some((scope) => !granted.includes(scope)) || known.length === 0) {
    throw new OauthError('invalid_scope', 'scope must not exceed what was granted');
  }
  return known;
}

function refused(): OauthError {
  return new OauthError('invalid_grant', 'the refresh token is not valid, or not for this client');
}
