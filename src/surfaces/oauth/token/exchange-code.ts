import { timingSafeEqual } from 'node:crypto';
import { haveSameRoles } from '../../../auth/grants.js';
import type { OauthClientDocument } from '../../../auth/oauth/clients.js';
import { requiredField } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import { ownResource } from '../../../auth/oauth/resources.js';
import { grantableScopes } from '../../../auth/oauth/scopes.js';
import { readCurrentRoles, tokenAnswer, type TokenAnswer } from '../../../auth/oauth/access-token.js';
import { auditGrant } from '../../../auth/oauth/audit-grant.js';
import type { OauthCodeDocument } from '../../../auth/oauth/codes.js';
import type { TokenDeps } from './token-deps.js';
import { sha256 } from '../../../base/hash.js';

const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/;

/**
 * Exchanges an authorization code (RFC 6749, 4.1.3; RFC 7636, 4.6). The grant's id comes from the code, so opening the
 * grant enforces single use: a second use collides and revokes the grant of the first.
 * @throws OauthError `invalid_grant`, with the same text whatever is wrong with the code
 */
export async function exchangeCode(
  deps: TokenDeps,
  client: OauthClientDocument,
  fields: ReadonlyMap<string, string>,
  now: number,
): Promise<TokenAnswer> {
  const code = requiredField(fields, 'code');
  const redirectUri = requiredField(fields, 'redirect_uri');
  const verifier = requiredField(fields, 'code_verifier');
  const record = await deps.codes.find(code);
  if (record?.grant.client_id !== client._id) throw refused();
  if (
    record.valid_until <= now ||
    record.redirect_uri !== redirectUri ||
    !provesChallenge(verifier, record.code_challenge)
  ) {
    await endReplayed(deps, record);
    throw refused();
  }
  const resource = fields.get('resource');
  if (resource !== undefined && ownResource(deps.baseUrl(), resource) !== record.grant.resource) {
    throw new OauthError('invalid_target', 'the code was issued for another resource');
  }
  const refreshToken = await deps.grants.open(record.grant);
  if (refreshToken === undefined) {
    await endReplayed(deps, record);
    throw refused();
  }
  // If the role is removed meanwhile, either the removal ends this grant or this second check sees the removal.
  const current = await readCurrentRoles(deps, record.grant);
  const allowed = current && haveSameRoles(current, record) ? grantableScopes(current.roles) : [];
  const scopes = record.grant.scopes.filter((scope) => allowed.includes(scope));
  if (!current || scopes.length === 0) {
    await deps.grants.revoke(record.grant._id, 'the role was changed after the consent');
    throw refused();
  }
  return tokenAnswer(deps.auth.tokens, {
    grant: record.grant,
    current,
    scopes,
    refreshToken: client.grant_types.includes('refresh_token') ? refreshToken : undefined,
    issuer: deps.baseUrl(),
  });
}

/**
 * Revokes the grant of a code that was used before. An unused code stays valid, so a thief without its verifier cannot
 * invalidate it.
 */
async function endReplayed(deps: TokenDeps, { grant }: OauthCodeDocument): Promise<void> {
  const ended = await deps.grants.revoke(grant._id, 'its authorization code was used again');
  if (ended) await auditGrant(deps, ended, 'oauth-code-reuse');
  deps.log.warn(
    { grant: grant._id, client: grant.client_id, user: grant.user_id },
    'an authorization code was refused or used again',
  );
}

function provesChallenge(verifier: string, challenge: string): boolean {
  if (!verifierForm.test(verifier)) return false;
  const actual = sha256(verifier);
  const expected = Buffer.from(challenge, 'base64url');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

function refused(): OauthError {
  return new OauthError(
    'invalid_grant',
    'the authorization code is not valid, or not for this client, redirect address and verifier',
  );
}
