import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import type { OauthClientDocument } from '../../../auth/oauth/clients.js';
import { addToCounter } from '../../../auth/window-counter.js';
import { isJsonObject, parseJsonOrUndefined } from '../../../base/json.js';
import type { HttpClient } from '../../../outbound/http-client.js';
import { isOutboundError } from '../../../outbound/outbound-error.js';
import { sha256Hex } from '../../../base/hash.js';
import type { Collections } from '../../../stores/collections.js';
import { epochSeconds } from '../../../base/time.js';
import { OauthError } from '../oauth-error.js';
import { documentAddressProblem, freshnessOf } from './client-document.js';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Only signatures with a private key: whoever reads the public key must not be able to sign. */
export const assertionAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
] as const;

const maxLength = 8192;
/** The longest lifetime of an assertion. Its id is remembered for as long. */
const maxSeconds = 3600;
const clockSkewSeconds = 30;
const fetchMs = 5000;
const maxKeyBytes = 64 * 1024;
const maxCached = 1000;
/** Keys are not read again sooner, whatever key an assertion names. */
const rereadSeconds = 10;

interface AssertionDeps {
  http: HttpClient;
  counters: Collections['oauth_counters'];
  baseUrl: () => string;
  allowLoopbackHttp: boolean;
}

type Client = Pick<OauthClientDocument, '_id' | 'jwks' | 'jwks_uri'>;

/** Returns whether the assertion proves that the client sent the request. `reread` returns the client with its keys of now. */
export type VerifyAssertion = (client: Client, assertion: string, reread: () => Promise<Client>) => Promise<boolean>;

/** Returns the client that an assertion names. It is not verified yet. */
export function clientOfAssertion(assertion: string): string | undefined {
  if (assertion.length > maxLength) return undefined;
  try {
    return decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}

/**
 * Verifies assertions of clients (RFC 7523, 3): signature, `iss`, `sub`, `aud`, `exp`, and a `jti` that is used once, in
 * whichever process.
 */
export function createVerifyAssertion(deps: AssertionDeps): VerifyAssertion {
  const keysAt = createKeyReader(deps);

  async function keysOf(client: Client, isReread: boolean): Promise<JWTVerifyGetKey | undefined> {
    const { jwks, jwks_uri } = client;
    if (typeof jwks_uri === 'string') return keysAt(jwks_uri, isReread);
    return jwks ? localKeys(jwks) : undefined;
  }

  async function payloadOf(
    client: Client,
    assertion: string,
    isReread: boolean,
  ): Promise<JWTPayload | 'no key' | undefined> {
    const keys = await keysOf(client, isReread);
    if (!keys) return undefined;
    const required = { issuer: client._id, subject: client._id, requiredClaims: ['exp', 'jti', 'aud'] };
    try {
      const options = { ...required, algorithms: [...assertionAlgorithms], clockTolerance: clockSkewSeconds };
      return (await jwtVerify(assertion, keys, options)).payload;
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return 'no key';
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  return async (client, assertion, reread) => {
    const first = await payloadOf(client, assertion, false);
    // The client may have changed its keys.
    const payload = first === 'no key' ? await payloadOf(await reread(), assertion, true) : first;
    if (payload === undefined || payload === 'no key') return false;
    const { exp = 0, jti = '' } = payload;
    if (exp > epochSeconds() + maxSeconds || typeof jti !== 'string' || jti === '') return false;
    if (!isForThisServer(payload.aud, deps.baseUrl())) return false;
    const id = `assertion:${sha256Hex(JSON.stringify([client._id, jti]))}`;
    return (await addToCounter(deps.counters, id, 1, (exp + 2 * clockSkewSeconds) * 1000)) === 1;
  };
}

/** An assertion for another server as well could be used by that server. */
function isForThisServer(aud: JWTPayload['aud'], baseUrl: string): boolean {
  const own = ['', '/oauth/token', '/oauth/revoke'].map((path) => baseUrl + path);
  const audiences = [aud ?? []].flat();
  return audiences.length > 0 && audiences.every((each) => own.includes(each.replace(/\/$/, '')));
}

function localKeys(jwks: unknown): JWTVerifyGetKey | undefined {
  try {
    return createLocalJWKSet(jwks as JSONWebKeySet);
  } catch {
    return undefined;
  }
}

interface CachedKeys {
  keys: JWTVerifyGetKey | undefined;
  readAt: number;
  freshUntil: number;
}

/**
 * Reads key sets through the guard for addresses that others choose. The copies of this process are read again when they
 * are old, or when an assertion names a key that they lack.
 */
function createKeyReader({ http, baseUrl, allowLoopbackHttp }: AssertionDeps) {
  const cached = new Map<string, Promise<CachedKeys>>();

  async function read(address: string): Promise<CachedKeys> {
    if (documentAddressProblem(address, { baseUrl, allowLoopbackHttp }) !== undefined) throw unreadable();
    const { signal } = new AbortController();
    const headers = { accept: 'application/jwk-set+json, application/json' };
    const response = await http
      .request({ method: 'GET', url: address, headers, timeoutMs: fetchMs, maxBytes: maxKeyBytes, signal })
      .catch((error: unknown) => {
        throw isOutboundError(error) ? unreadable(error) : error;
      });
    const parsed = response.status === 200 ? parseJsonOrUndefined(response.body.toString('utf8')) : undefined;
    if (!isJsonObject(parsed)) throw unreadable();
    const readAt = epochSeconds();
    return { keys: localKeys(parsed), readAt, freshUntil: readAt + freshnessOf(response) };
  }

  function readAgain(address: string): Promise<CachedKeys> {
    const reading = read(address);
    cached.delete(address);
    cached.set(address, reading);
    reading.catch(() => cached.delete(address));
    for (const oldest of cached.keys()) {
      if (cached.size <= maxCached) break;
      cached.delete(oldest);
    }
    return reading;
  }

  return async (address: string, isReread: boolean): Promise<JWTVerifyGetKey | undefined> => {
    const known = await cached.get(address)?.catch(() => undefined);
    const now = epochSeconds();
    const isUsable = known && now < known.freshUntil && !(isReread && known.readAt + rereadSeconds <= now);
    return (isUsable ? known : await readAgain(address)).keys;
  };
}

/** The exact reason would reveal the server's network to anyone. */
function unreadable(cause?: unknown): OauthError {
  return new OauthError('invalid_client', "the client's keys could not be read", { cause });
}
