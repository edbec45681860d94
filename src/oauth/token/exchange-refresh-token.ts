import { standingOn } from '../../auth/standing.js';
import type { OauthClientDocument } from '../clients/clients.js';
import { requiredField } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import { ownResource } from '../resources.js';
import { grantableScopes, knownScopes, type Scope } from '../scopes.js';
import { tokenAnswer, type Standing, type TokenAnswer } from './access-token.js';
import type { OauthGrantDocument } from './grants.js';
import type { TokenDeps } from './token.js';

/**
 * The refresh grant (RFC 6749, 6): always rotates, and gives what the person could still consent to today.
 * @throws OauthError `invalid_grant`, so that the client begins anew
 */
export async function exchangeRefreshToken(
  deps: TokenDeps,
  client: OauthClientDocument,
  fields: ReadonlyMap<string, string>,
  now: number,
): Promise<TokenAnswer> {
  if (!client.grant_types.includes('refresh_token')) throw new OauthError('unauthorized_client', 'the client did not register for refresh_token');
  const found = await deps.grants.find(requiredField(fields, 'refresh_token'));
  if (found?.grant.client_id !== client._id) throw refused();
  const { grant, presented } = found;
  const scopes = narrowed(grant.scopes, fields.get('scope'));
  const resource = fields.get('resource');
  if (resource !== undefined && ownResource(deps.baseUrl(), resource) !== grant.resource) {
    throw new OauthError('invalid_target', 'the grant is for another resource');
  }
  const standing = await standingOf(deps, grant);
  const allowed = standing ? grantableScopes(standing.role) : [];
  if (!standing || !grant.scopes.some((scope) => allowed.includes(scope))) {
    await deps.grants.revoke(grant._id, 'the person may not give any of it any more');
    throw refused();
  }
  const given = scopes.filter((scope) => allowed.includes(scope));
  if (given.length === 0) throw new OauthError('invalid_scope', 'the person may not give that any more');
  const refreshToken = await deps.grants.rotate(grant, presented, now);
  if (refreshToken === undefined) throw refused();
  return tokenAnswer(deps.auth.tokens, { grant, standing, scopes: given, refreshToken, issuer: deps.baseUrl() });
}

/** A client may ask for less than it was given, for one token; never for more. */
function narrowed(granted: readonly Scope[], asked: string | undefined): readonly Scope[] {
  if (asked === undefined) return granted;
  const names = asked.split(' ').filter((name) => name !== '');
  const known = knownScopes(asked);
  if (known.length < new Set(names).size || known.some((scope) => !granted.includes(scope)) || known.length === 0) {
    throw new OauthError('invalid_scope', 'the scope is more than was granted');
  }
  return known;
}

/** The person's role on the picked project now; undefined when the project, the account or the role is gone. */
async function standingOf({ mongo: { collections } }: TokenDeps, grant: OauthGrantDocument): Promise<Standing | undefined> {
  const [user, standing] = await Promise.all([
    collections.users.findOne({ _id: grant.user_id }),
    standingOn(collections, grant.user_id, grant.project_id),
  ]);
  if (!user || !standing) return undefined;
  const { project, role } = standing;
  return { role, organization_id: project.organization_id, department_id: project.department_id };
}

function refused(): OauthError {
  return new OauthError('invalid_grant', 'the refresh token is not valid, or not for this client');
}
