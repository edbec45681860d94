import type { RequestHandler } from 'express';
import { authenticateClient } from '../clients/client-authentication.js';
import { formOf, requiredField, singleFields } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import type { OauthAccess } from '../oauth-access.js';
import { looksLikeRefreshToken } from './refresh-token.js';
import type { TokenDeps } from './token.js';

/**
 * Revocation (RFC 7009). Either kind of token ends the whole grant, and so every other token of it; a token that is
 * unknown, expired or ended already is answered 200 as well.
 */
export function revokeHandler(deps: TokenDeps, access: OauthAccess): RequestHandler {
  return async (req, res) => {
    const fields = singleFields(formOf(req));
    const client = await authenticateClient(deps.clients, req.get('authorization'), fields);
    const token = requiredField(fields, 'token');
    const owner = looksLikeRefreshToken(token) ? await ownerOfRefreshToken(deps, token) : await access.ownerOf(token, deps.baseUrl());
    if (owner && owner.clientId !== client._id) throw new OauthError('invalid_grant', 'the token was not given to this client');
    if (owner) await deps.grants.revoke(owner.grantId, 'revoked by its client');
    res.set('Cache-Control', 'no-store').status(200).end();
  };
}

async function ownerOfRefreshToken({ grants }: TokenDeps, token: string) {
  const found = await grants.find(token);
  return found && { grantId: found.grant._id, clientId: found.grant.client_id };
}
