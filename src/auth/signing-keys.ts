import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import { defineCollection, type Collections } from '../stores/collections.js';
import { insertOnce } from '../stores/insert-once.js';
import { epochSeconds } from '../base/time.js';
import type { SecretBox } from './secret-box.js';

/**
 * All JOSE libraries verify ES256, including OAuth and OIDC clients. Its keys and signatures are much smaller than
 * those of RS256, and signing is about twenty times faster. EdDSA would be equally good, but older clients and some
 * identity products do not support it.
 */
export const signingAlgorithm = 'ES256';

/** `_id` counts up from `signing:1`, so that only one of several concurrent rotations creates the next key. */
interface SigningKeyDocument {
  _id: string;
  generation: number;
  kid: string;
  public_jwk: JWK;
  /** The sealed private JWK. Null after the key is retired. */
  sealed_private: string | null;
  created_at: number;
  /** The time when the key starts to sign. It is published from `created_at` on. */
  signs_from: number;
}

interface SigningKey {
  kid: string;
  key: CryptoKey;
}

export type SigningKeys = ReturnType<typeof createSigningKeys>;

export interface SigningKeyOptions {
  collections: Collections;
  box: SecretBox;
  /** The longest lifetime of a token. A key stays published for this time after it has stopped signing. */
  maxTokenSeconds?: number;
}

const day = 24 * 3600;
/** The age at which the next key replaces a key. */
const maxAgeSeconds = 30 * day;
/** Twice the time for which clients may cache the published set (src/surfaces/gateway/routes/jwks.ts). */
const defaultLeadSeconds = 600;
const cacheSeconds = 60;

interface Generation extends SigningKeyDocument {
  /** Undefined until a later key starts to sign. */
  retiresAt: number | undefined;
}

export function createSigningKeys({ collections, box, maxTokenSeconds = day }: SigningKeyOptions) {
  const opened = new Map<string, Promise<CryptoKey>>();
  let cache: { generations: Generation[]; readAt: number } | undefined;

  async function read(): Promise<Generation[]> {
    const stored = await collections.signing_keys.find({}).toArray();
    stored.sort((a, b) => a.generation - b.generation);
    const generations = stored.map((document, at) => withRetirement(document, stored[at + 1], maxTokenSeconds));
    cache = { generations, readAt: epochSeconds() };
    return generations;
  }

  /**
   * Returns at least one key. Creates the first key, replaces an old one, and destroys the private keys of retired
   * ones.
   */
  async function generations(): Promise<[Generation, ...Generation[]]> {
    const now = epochSeconds();
    const known = cache && now - cache.readAt < cacheSeconds ? cache.generations : await read();
    const [oldest, ...later] = known;
    const newest = known.at(-1);
    if (oldest && newest && newest.created_at + maxAgeSeconds > now) return [oldest, ...later];
    await makeNext(newest, newest ? defaultLeadSeconds : 0);
    const [first, ...rest] = await read();
    if (!first) throw new Error('the signing key that was just stored is not there');
    await forgetRetired([first, ...rest]);
    return [first, ...rest];
  }

  async function makeNext(newest: SigningKeyDocument | undefined, leadSeconds: number): Promise<void> {
    await insertOnce(collections.signing_keys, await newKey(box, (newest?.generation ?? 0) + 1, leadSeconds));
  }

  async function forgetRetired(known: readonly Generation[]): Promise<void> {
    const retired = known.filter((generation) => generation.sealed_private !== null && isRetired(generation));
    for (const { _id } of retired)
      await collections.signing_keys.updateOne({ _id }, { $set: { sealed_private: null } });
  }

  return {
    /** Returns the key that signs now. */
    async current(): Promise<SigningKey> {
      const now = epochSeconds();
      const all = await generations();
      const { _id, kid, sealed_private: sealed } = all.findLast(({ signs_from }) => signs_from <= now) ?? all[0];
      if (sealed === null) throw new Error(`the private key ${_id} was destroyed`);
      return {
        kid,
        key: await once(opened, `private ${kid}`, () => openKey(JSON.parse(box.open(sealed, _id)) as JWK)),
      };
    },
    /**
     * Returns the public key of a `kid`, or undefined for an unknown or retired key. Reads the database again for an
     * unknown `kid`.
     */
    async find(kid: string): Promise<CryptoKey | undefined> {
      const hasKid = (generation: Generation) => generation.kid === kid;
      const found = (await generations()).find(hasKid) ?? (await read()).find(hasKid);
      if (!found || isRetired(found)) return undefined;
      return once(opened, `public ${kid}`, () => openKey(found.public_jwk));
    },
    /** Returns the public keys of all tokens in use, and the next key. */
    async published(): Promise<JSONWebKeySet> {
      return { keys: (await generations()).filter((generation) => !isRetired(generation)).map(publicJwk) };
    },
    /** Returns all public keys that ever existed, because signed statements outlive their keys. */
    async history(): Promise<JSONWebKeySet> {
      return { keys: (await generations()).map(publicJwk) };
    },
    /**
     * Creates the next key. The key is published immediately and signs after `leadSeconds`, when cached copies of the key
     * set contain it.
     */
    async rotate({ leadSeconds = defaultLeadSeconds } = {}): Promise<void> {
      await generations();
      await makeNext((await read()).at(-1), leadSeconds);
      await forgetRetired(await read());
    },
  };
}

function withRetirement(
  document: SigningKeyDocument,
  next: SigningKeyDocument | undefined,
  maxTokenSeconds: number,
): Generation {
  return { ...document, retiresAt: next && next.signs_from + maxTokenSeconds };
}

function isRetired({ retiresAt }: Generation): boolean {
  return retiresAt !== undefined && retiresAt < epochSeconds();
}

async function newKey(box: SecretBox, generation: number, leadSeconds: number): Promise<SigningKeyDocument> {
  const { privateKey, publicKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
  const bare = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(bare);
  const _id = `signing:${generation}`;
  const now = epochSeconds();
  return {
    _id,
    generation,
    kid,
    public_jwk: { ...bare, kid, alg: signingAlgorithm, use: 'sig' },
    sealed_private: box.seal(JSON.stringify(await exportJWK(privateKey)), _id),
    created_at: now,
    signs_from: now + leadSeconds,
  };
}

function publicJwk({ public_jwk: { kty, crv, x, y, kid, alg, use } }: SigningKeyDocument): JWK {
  return { kty, crv, x, y, kid, alg, use };
}

async function openKey(jwk: JWK): Promise<CryptoKey> {
  return (await importJWK(jwk, signingAlgorithm)) as CryptoKey;
}

function once<T>(known: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const value = known.get(name) ?? make();
  known.set(name, value);
  return value;
}

export const signingKeysCollection = defineCollection('signing_keys', {});

declare module '../stores/collections.js' {
  interface Documents {
    signing_keys: SigningKeyDocument;
  }
}
