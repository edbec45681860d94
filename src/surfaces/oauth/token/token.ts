import type { TokenDeps } from './token-deps.js';
import type { RequestHandler } from 'express';
import { deviceGrantType, supportedGrantTypes } from '../../../auth/oauth/clients.js';
import { epochSeconds } from '../../../base/time.js';
import { formOf, requiredField, singleFields } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import { exchangeCode } from './exchange-code.js';
import { exchangeDeviceCode } from './exchange-device-code.js';
import { exchangeRefreshToken } from './exchange-refresh-token.js';

const exchanges = {
  authorization_code: exchangeCode,
  refresh_token: exchangeRefreshToken,
  [deviceGrantType]: exchangeDeviceCode,
} as const;

/** Serves the token endpoint (RFC 6749, 3.2). */
export function tokenHandler(deps: TokenDeps): RequestHandler {
  return async (req, res) => {
    // Use the arrival time of requests, not the time at which a busy server processes them.
    const now = epochSeconds();
    const fields = singleFields(formOf(req));
    const client = await deps.authenticateClient(req, fields);
    const grantType = requiredField(fields, 'grant_type');
    if (!isSupported(grantType))
      throw new OauthError('unsupported_grant_type', `grant_type must be one of ${supportedGrantTypes.join(', ')}`);
    res
      .set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
      .json(await exchanges[grantType](deps, client, fields, now));
  };
}

function isSupported(grantType: string): grantType is keyof typeof exchanges {
  return Object.hasOwn(exchanges, grantType);
}
