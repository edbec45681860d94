import { CompactSign, decodeJwt, errors, jwtVerify, SignJWT, type JWTPayload } from 'jose';
import { AppError } from '../base/errors.js';
import { newId } from '../base/ids.js';
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

interface SigningOptions {
  expiresInSeconds: number;
  issuer?: string;
}

interface VerificationOptions {
  tokenUse: readonly TokenUse[];
  audience?: string | string[];
  issuer?: string;
}

export type Tokens = ReturnType<typeof createTokens>;

/** Signs and verifies this service's own JWTs. */
export function createTokens(keys: SigningKeys, issuer: string) {
  return {
    issuer,
    /** The resource for which tokens are issued: the gateway. */
    audience: issuer,
    /** Adds issuer, audience, `iat`, `exp` and `jti`. An audience or `jti` in the claims takes precedence. */
    async sign(claims: JWTPayload, { expiresInSeconds, issuer: by = issuer }: SigningOptions): Promise<string> {
      const { kid, key } = await keys.current();
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({ aud: issuer, jti: newId(), ...claims })
        .setProtectedHeader({ alg: signingAlgorithm, kid, typ: accessTokenType })
        .setIssuer(by)
        .setIssuedAt(now)
        .setExpirationTime(now + expiresInSeconds)
        .sign(key);
    },
    /** @throws AppError `invalid_token` unless key, algorithm, type, issuer, audience, times and use are all valid */
    async verify(
      token: string,
      { tokenUse, audience = issuer, issuer: by = issuer }: VerificationOptions,
    ): Promise<JWTPayload> {
      const { payload } = await mapJoseErrors(() =>
        jwtVerify(token, async ({ kid }) => (await keys.find(kid ?? '')) ?? refuse(), {
          algorithms: [signingAlgorithm],
          requiredClaims: ['iat', 'exp', 'sub', 'jti'],
          issuer: by,
          audience,
          typ: accessTokenType,
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

export type StatementSigner = ReturnType<typeof createStatementSigner>;

/** Signs documents that are verified long after they were created, such as audit checkpoints. */
export function createStatementSigner(keys: SigningKeys) {
  return {
    /**
     * Returns a compact JWS over the JSON of `payload`. `typ` names the kind of statement. It must not be that of an
     * access token.
     */
    async sign(payload: object, typ: string): Promise<string> {
      if (/^(application\/)?(at\+)?jwt$/i.test(typ))
        throw new Error(`${typ} is the type of a token, not of a statement`);
      const { kid, key } = await keys.current();
      return new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: signingAlgorithm, kid, typ })
        .sign(key);
    },
    /** Returns all public keys that ever signed a statement. */
    jwks: keys.history,
  };
}
