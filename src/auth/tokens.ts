import { CompactSign, errors, jwtVerify, SignJWT, type JSONWebKeySet, type JWTPayload } from 'jose';
import { AppError } from '../errors.js';
import { newId } from '../ids.js';
import { signingAlgorithm, type SigningKeys } from './signing-keys.js';

export type TokenUse = 'user' | 'session' | 'oauth';

/** RFC 9068: keeps an access token from being taken for any other signed statement, and the other way round. */
const accessTokenType = 'at+jwt';

export const tokenInvalid = 'token invalid';

/** Signs and verifies this service's own JWTs. */
export interface Tokens {
  issuer: string;
  /** The resource that tokens are for: the gateway. */
  audience: string;
  /** Adds issuer, audience, `iat`, `exp` and `jti`; a claim given here wins, save for issuer and times. */
  sign(claims: JWTPayload, options: { expiresInSeconds: number; typ?: string; issuer?: string }): Promise<string>;
  /** @throws AppError `invalid_token` (401) unless key, algorithm, type, issuer, audience, times and use are all right */
  verify(token: string, options: { tokenUse: readonly TokenUse[]; audience?: string | string[]; typ?: string; issuer?: string }): Promise<JWTPayload>;
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
      const { payload } = await refusingBadTokens(() =>
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

/** jose's own refusals become ours; a store that does not answer stays what it is. */
export async function refusingBadTokens<T>(verify: () => Promise<T>): Promise<T> {
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

/** Signs documents that are checked long after their making, such as audit checkpoints. */
export interface StatementSigner {
  /** A compact JWS over the JSON of `payload`; `typ` says what it states and is never that of an access token. */
  sign(payload: object, typ: string): Promise<string>;
  /** Every public key that a statement was ever signed with. */
  jwks(): Promise<JSONWebKeySet>;
}

export function createStatementSigner(keys: SigningKeys): StatementSigner {
  return {
    async sign(payload, typ) {
      if (/^(application\/)?(at\+)?jwt$/i.test(typ)) throw new Error(`${typ} is the type of a token, not of a statement`);
      const { kid, key } = await keys.current();
      return new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: signingAlgorithm, kid, typ })
        .sign(key);
    },
    jwks: () => keys.history(),
  };
}
