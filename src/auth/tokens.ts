import { CompactSign, decodeJwt, errors, jwtVerify, SignJWT, type JSONWebKeySet, type JWTPayload } from 'jose';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import { signingAlgorithm, type SigningKeys } from './signing-keys.js';

type TokenUse = 'user' | 'session' | 'oauth';

/** Distinguishes an access token from all other signed statements (RFC 9068). */
const accessTokenType = 'at+jwt';

/** Only asymmetric ones: a public key must never be used as a shared secret. */
export const asymmetricAlgorithms = [
  ...['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['EdDSA', 'Ed25519'],
];

export const tokenInvalid = 'token invalid';

/** Signs and verifies this service's own JWTs. */
export interface Tokens {
  issuer: string;
  /** The resource for which tokens are issued: the gateway. */
  audience: string;
  /** Adds issuer, audience, `iat`, `exp` and `jti`. An audience or `jti` in the claims takes precedence. */
  sign(claims: JWTPayload, options: { expiresInSeconds: number; typ?: string; issuer?: string }): Promise<string>;
  /** @throws AppError `invalid_token` unless key, algorithm, type, issuer, audience, times and use are all valid */
  verify(
    token: string,
    options: { tokenUse: readonly TokenUse[]; audience?: string | string[]; typ?: string; issuer?: string },
  ): Promise<JWTPayload>;
}

export function createTokens(keys: SigningKeys, issuer: string): Tokens {
  return {
    issuer,
    audience: issuer,
    async sign(claims, { expiresInSeconds, typ = accessTokenType, issuer: by = issuer }) {
      const { kid, key } = await keys.current();
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ aud: issuer, jti: newId(), ...claims })
        .setProtectedHeader({ alg: signingAlgorithm, kid, typ })
        .setIssuer(by)
        .setIssuedAt(now)
        .setExpirationTime(now + expiresInSeconds)
        .sign(key);
    },
    async verify(token, { tokenUse, audience = issuer, typ = accessTokenType, issuer: by = issuer }) {
      const { payload } = await mapJoseErrors(() =>
        jwtVerify(token, async ({ kid }) => (await keys.find(kid ?? '')) ?? refuse(), {
          algorithms: [signingAlgorithm],
          requiredClaims: ['iat', 'exp', 'sub', 'jti'],
          issuer: by,
          audience,
          typ,
        }),
      );
      if (!tokenUse.includes(payload.token_use as TokenUse)) refuse();
      return payload;
    },
  };
}

/** Reads the claims of a token without verifying them, only to choose the verifier. Empty if it is not a JWT. */
export function unverifiedClaims(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

/** Maps errors of jose to `invalid_token`. Rethrows all others, such as a database failure. */
export async function mapJoseErrors<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new AppError('invalid_token', tokenInvalid, { cause: error });
    throw error;
  }
}

function refuse(): never {
  throw new AppError('invalid_token', tokenInvalid);
}

/** Signs documents that are verified long after they were created, such as audit checkpoints. */
export interface StatementSigner {
  /**
   * Returns a compact JWS over the JSON of `payload`. `typ` names the kind of statement. It must not be that of an
   * access token.
   */
  sign(payload: object, typ: string): Promise<string>;
  /** Returns all public keys that ever signed a statement. */
  jwks(): Promise<JSONWebKeySet>;
}

export function createStatementSigner(keys: SigningKeys): StatementSigner {
  return {
    async sign(payload, typ) {
      if (/^(application\/)?(at\+)?jwt$/i.test(typ))
        throw new Error(`${typ} is the type of a token, not of a statement`);
      const { kid, key } = await keys.current();
      return new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: signingAlgorithm, kid, typ })
        .sign(key);
    },
    jwks: () => keys.history(),
  };
}
