import { createHash, timingSafeEqual } from 'node:crypto';
import type { OauthClientDocument } from '../clients/clients.js';
import { requiredField } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import { ownResource } from '../resources.js';
import { tokenAnswer, type TokenAnswer } from './access-token.js';
import type { OauthCodeDocument } from './codes.js';
import type { TokenDeps } from './token.js';

const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/;

/**
 * The code grant (RFC 6749, 4.1.3, and RFC 7636, 4.6). Opening the grant is the single use: the code names its id, so of
 * two uses one collides, and then what the other gave is ended.
 * @throws OauthError `invalid_grant`, one text for every way in which a code is not good
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
  if (record.valid_until <= now || record.redirect_uri !== redirectUri || !provesChallenge(verifier, record.code_challenge)) {
    await endReplayed(deps, record);
    throw refused();
  }
  const resource = fields.get('resource');
  if (resource !== undefined && ownResource(deps.baseUrl(), resource) !== record.grant.resource) {
    throw new OauthError('invalid_target', 'the code was given for another resource');
  }
  const refreshToken = await deps.grants.open(record.grant);
  if (refreshToken === undefined) {
    await endReplayed(deps, record);
    throw refused();
  }
  return tokenAnswer(deps.auth.tokens, {
    grant: record.grant,
    standing: record,
    scopes: record.grant.scopes,
    refreshToken: client.grant_types.includes('refresh_token') ? refreshToken : undefined,
    issuer: deps.baseUrl(),
  });
}

/** Leaves a code that was not used yet as it is: whoever got hold of it without its verifier cannot spoil it. */
async function endReplayed({ grants, log }: TokenDeps, { grant }: OauthCodeDocument): Promise<void> {
  await grants.revoke(grant._id, 'its authorization code was used again');
  log.warn({ grant: grant._id, client: grant.client_id, user: grant.user_id }, 'an authorization code was refused or used again');
}

function provesChallenge(verifier: string, challenge: string): boolean {
  if (!verifierForm.test(verifier)) return false;
  const made = createHash('sha256').update(verifier).digest();
  const asked = Buffer.from(challenge, 'base64url');
  return made.length === asked.length && timingSafeEqual(made, asked);
}

function refused(): OauthError {
  return new OauthError('invalid_grant', 'the authorization code is not valid, or not for this client, redirect address and verifier');
}
