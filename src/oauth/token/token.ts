import type { RequestHandler } from 'express';
import type { AuthDeps } from '../../auth/create-auth.js';
import { epochSeconds } from '../../time.js';
import { authenticateClient } from '../clients/client-authentication.js';
import type { Clients } from '../clients/clients.js';
import { formOf, requiredField, singleFields } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import type { Codes } from './codes.js';
import { exchangeCode } from './exchange-code.js';
import { exchangeRefreshToken } from './exchange-refresh-token.js';
import type { Grants } from './grants.js';

export interface TokenDeps extends AuthDeps {
  clients: Clients;
  codes: Codes;
  grants: Grants;
  baseUrl(): string;
}

const exchanges = { authorization_code: exchangeCode, refresh_token: exchangeRefreshToken } as const;

/** The token endpoint (RFC 6749, 3.2). */
export function tokenHandler(deps: TokenDeps): RequestHandler {
  return async (req, res) => {
    // Of repeats at once it counts when they came, not how long a busy server took to get to them.
    const now = epochSeconds();
    const fields = singleFields(formOf(req));
    const client = await authenticateClient(deps.clients, req.get('authorization'), fields);
    const grantType = requiredField(fields, 'grant_type');
    if (!isSupported(grantType)) throw new OauthError('unsupported_grant_type', 'grant_type is authorization_code or refresh_token');
    res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' }).json(await exchanges[grantType](deps, client, fields, now));
  };
}

function isSupported(grantType: string): grantType is keyof typeof exchanges {
  return Object.hasOwn(exchanges, grantType);
}
