import type { RequestHandler } from 'express';
import { looksLikeApiKey } from '../../../auth/api-keys.js';
import { sha256Hex } from '../../../base/hash.js';
import { epochSeconds } from '../../../base/time.js';
import { formOf, requiredField, singleFields } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import type { OauthAccess } from '../../../auth/oauth/oauth-access.js';
import { auditGrant } from '../../../auth/oauth/audit-grant.js';
import { looksLikeRefreshToken } from '../../../auth/oauth/refresh-token.js';
import type { TokenDeps } from './token-deps.js';

/**
 * Revocation (RFC 7009). Revoking an access token or a refresh token ends the whole grant with all its tokens. An API key
 * that the client received by device authorization ends alone. The answer is also 200 for a token that is unknown, expired
 * or already revoked.
 */
export function revokeHandler(deps: TokenDeps, access: OauthAccess): RequestHandler {
  return async (req, res) => {
    const fields = singleFields(formOf(req));
    const client = await deps.authenticateClient(req, fields);
    const token = requiredField(fields, 'token');
    res.set('Cache-Control', 'no-store').status(200);
    if (looksLikeApiKey(token)) {
      await giveBackKey(deps, client._id, token);
      res.end();
      return;
    }
    const owner = looksLikeRefreshToken(token)
      ? await ownerOfRefreshToken(deps, token)
      : await access.ownerOf(token, deps.baseUrl());
    if (owner && owner.clientId !== client._id)
      throw new OauthError('invalid_grant', 'the token was not issued to this client');
    const ended = owner && (await deps.grants.revoke(owner.grantId, 'revoked by its client'));
    if (ended) await auditGrant(deps, ended, 'oauth-revocation');
    res.end();
  };
}

/** A client may revoke a key that it received by device authorization. */
async function giveBackKey({ mongo, governance }: TokenDeps, clientId: string, secret: string): Promise<void> {
  const { api_keys: keys } = mongo.collections;
  const key = await keys.findOne({ _id: sha256Hex(secret) });
  if (!key) return;
  if (key.client_id !== clientId) throw new OauthError('invalid_grant', 'the API key was not issued to this client');
  if (key.revoked_at !== null) return;
  await keys.updateOne({ _id: key._id }, { $set: { revoked_at: epochSeconds() } });
  await governance.audit.append({
    organization_id: key.scope.org_id,
    actor: `api_key:${key.scope.user_id}:${key.id}`,
    action: 'oauth-revocation',
    resource: `api_key:${key.id}`,
    outcome: `given back by ${clientId}`,
    lifecycle_id: null,
  });
}

async function ownerOfRefreshToken({ grants }: TokenDeps, token: string) {
  const found = await grants.find(token);
  return found && { grantId: found.grant._id, clientId: found.grant.client_id };
}
