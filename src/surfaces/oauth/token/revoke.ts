import type { RequestHandler } from 'express';
import { formOf, requiredField, singleFields } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import type { OauthAccess } from '../../../auth/oauth/oauth-access.js';
import { auditGrant } from '../../../auth/oauth/audit-grant.js';
import { looksLikeRefreshToken } from '../../../auth/oauth/refresh-token.js';
import type { TokenDeps } from './token-deps.js';

/**
 * Revocation (RFC 7009). Revoking either kind of token ends the whole grant with all its tokens. The answer is also 200
 * for a token that is unknown, expired or already revoked.
 */
export function revokeHandler(deps: TokenDeps, access: OauthAccess): RequestHandler {
  return async (req, res) => {
    const fields = singleFields(formOf(req));
    const client = await deps.authenticateClient(req, fields);
    const token = requiredField(fields, 'token');
    const owner = looksLikeRefreshToken(token)
      ? await ownerOfRefreshToken(deps, token)
      : await access.ownerOf(token, deps.baseUrl());
    if (owner && owner.clientId !== client._id)
      throw new OauthError('invalid_grant', 'the token was not issued to this client');
    const ended = owner && (await deps.grants.revoke(owner.grantId, 'revoked by its client'));
    if (ended) await auditGrant(deps, ended, 'oauth-revocation');
    res.set('Cache-Control', 'no-store').status(200).end();
  };
}

async function ownerOfRefreshToken({ grants }: TokenDeps, token: string) {
  const found = await grants.find(token);
  return found && { grantId: found.grant._id, clientId: found.grant.client_id };
}
