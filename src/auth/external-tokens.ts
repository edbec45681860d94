import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import type { Config } from '../config.js';
import { AppError } from '../base/errors.js';
import { asymmetricAlgorithms, mapJoseErrors, tokenInvalid, unverifiedClaims } from './tokens.js';

const tokenTypes = ['jwt', 'at+jwt'];

/**
 * Verifies user tokens of an external identity provider that the operator has configured.
 * @throws Error if only one of URL and issuer is configured, or if the issuer is this service
 */
export function createExternalTokens({ jwksUrl, issuer }: Config['userTokens'], audience: string) {
  if (jwksUrl === undefined && issuer === undefined) return undefined;
  if (jwksUrl === undefined || issuer === undefined) {
    throw new Error('USER_TOKEN_JWKS_URL and USER_TOKEN_ISSUER must be set together');
  }
  if (issuer === audience) throw new Error('USER_TOKEN_ISSUER must not name this service itself');
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 3000, cooldownDuration: 10_000 });
  const key: JWTVerifyGetKey = async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      throw isRefusal(error)
        ? error
        : new AppError('unavailable', 'the identity provider does not answer', { cause: error });
    }
  };
  return {
    /** Returns whether the token names this provider as its issuer. */
    claims: (token: string) => unverifiedClaims(token).iss === issuer,
    /** @throws AppError `invalid_token` (401), or `unavailable` (503) when the provider's keys cannot be read */
    async verify(token: string): Promise<JWTPayload> {
      const { payload, protectedHeader } = await mapJoseErrors(() =>
        jwtVerify(token, key, { algorithms: asymmetricAlgorithms, issuer, audience, requiredClaims: ['exp', 'sub'] }),
      );
      const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '') ?? 'jwt';
      if (!tokenTypes.includes(type) || payload.token_use !== 'user') throw new AppError('invalid_token', tokenInvalid);
      return payload;
    },
  };
}

function isRefusal(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
}
