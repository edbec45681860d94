import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.js';
import { hasCode } from '../base/errors.js';
import { sha256Hex } from '../base/hash.js';

const version = 'v1';
const minKeyLength = 32;
const ivBytes = 12;
const tagBytes = 16;
const maxRememberedKeys = 1000;

export type SecretBox = ReturnType<typeof createSecretBox>;

interface BoxKey {
  id: string;
  key: Buffer;
  dataKey(purpose: string): Buffer;
  macKey(purpose: string): Buffer;
}

/**
 * Encrypts small secrets at rest with AES-256-GCM. Each ciphertext is bound to its `purpose` and can be opened only for
 * the same purpose. The envelope is `v1.<key id>.<iv>.<ciphertext and tag>` in base64url.
 * `SECRETS_KEY` contains one or more keys of at least 32 characters, separated by commas. The first key seals and all
 * keys open, so that a key can be replaced. If it is not set, a key is generated once below `dataDir`.
 * @throws Error if a key is too short, and in production if there is no key
 */
export function createSecretBox(config: Pick<Config, 'secretsKey' | 'dataDir' | 'environment'>) {
  const keys = secretsOf(config).map(deriveKey);
  const [current] = keys;
  if (!current) throw new Error('SECRETS_KEY contains no key');
  return {
    seal: (plain: string, purpose: string) => seal(current, plain, purpose),
    /** @throws Error if the text was changed, belongs to another purpose, or was sealed with an unknown key */
    open: (sealed: string, purpose: string) => open(keys, sealed, purpose),
    /**
     * Encrypts under a key derived for the purpose, and authenticates `bound` with it. `keyId` identifies the key in
     * `SECRETS_KEY`. Returns the result in parts, because joining them takes as long as the encryption.
     */
    encrypt: (plain: Uint8Array, purpose: string, bound = ''): { keyId: string; parts: Buffer[] } => ({
      keyId: current.id,
      parts: gcmSeal(current.dataKey(purpose), plain, Buffer.from(bound)),
    }),
    /** @throws Error if the bytes were changed, belong to another purpose, or `SECRETS_KEY` does not contain the key */
    decrypt: (bytes: Uint8Array, keyId: string, purpose: string, bound = '') =>
      gcmOpen(keyOf(keys, keyId).dataKey(purpose), bytes, Buffer.from(bound)),
    hasKey: (keyId: string) => keys.some(({ id }) => id === keyId),
    /** The ids of the keys in `SECRETS_KEY`. */
    keyIds: keys.map(({ id }) => id),
    /** Returns the HMAC-SHA256 in base64url, under a key derived for the purpose. */
    sign: (text: string, purpose: string) => mac(current, text, purpose).toString('base64url'),
    /** Compares in constant time. Accepts a signature by any key in `SECRETS_KEY`. */
    isSigned: (text: string, signature: string, purpose: string) =>
      keys.some((key) => isEqual(mac(key, text, purpose), signature)),
  };
}

function mac(key: BoxKey, text: string, purpose: string): Buffer {
  return createHmac('sha256', key.macKey(purpose)).update(text).digest();
}

/** Compares in constant time. Accepts only the canonical base64url encoding of a signature. */
function isEqual(expected: Buffer, signature: string): boolean {
  const actual = Buffer.from(signature, 'base64url');
  return (
    actual.length === expected.length && timingSafeEqual(actual, expected) && actual.toString('base64url') === signature
  );
}

/** Returns the initialization vector, the ciphertext and the tag. */
function gcmSeal(key: Buffer, plain: Uint8Array, additional: Buffer): [iv: Buffer, ...sealed: Buffer[]] {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(additional);
  return [iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
}

function gcmOpen(key: Buffer, sealed: Uint8Array, additional: Buffer): Buffer {
  const [iv, body, tag] = [
    sealed.subarray(0, ivBytes),
    sealed.subarray(ivBytes, -tagBytes),
    sealed.subarray(-tagBytes),
  ];
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(additional)
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

function seal({ id, key }: BoxKey, plain: string, purpose: string): string {
  const head = `${version}.${id}`;
  const [iv, ...sealed] = gcmSeal(key, Buffer.from(plain), Buffer.from(`${head}.${purpose}`));
  return `${head}.${iv.toString('base64url')}.${Buffer.concat(sealed).toString('base64url')}`;
}

function open(keys: readonly BoxKey[], sealed: string, purpose: string): string {
  const [format, id = '', iv = '', body = '', ...rest] = sealed.split('.');
  if (format !== version || rest.length > 0)
    throw new Error('the stored secret is not in a format that SECRETS_KEY can open');
  const bytes = Buffer.concat([iv, body].map(canonicalBytes));
  return gcmOpen(keyOf(keys, id).key, bytes, Buffer.from(`${format}.${id}.${purpose}`)).toString('utf8');
}

/** Refuses text that is not canonical, because `Buffer.from` decodes several texts to the same bytes. */
function canonicalBytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new Error('the stored secret is not in canonical base64url');
  return bytes;
}

function keyOf(keys: readonly BoxKey[], id: string): BoxKey {
  const known = keys.find((candidate) => candidate.id === id);
  if (!known) throw new Error(`SECRETS_KEY does not contain the key ${id.slice(0, 8)}, with which this was sealed`);
  return known;
}

function deriveKey(secret: string): BoxKey {
  const derived = (info: string) => Buffer.from(hkdfSync('sha256', secret, '', `governed-context-service ${info}`, 32));
  const key = derived('secret box v1');
  // Deriving a key takes longer than encrypting a small payload with it.
  const dataKeys = new LRUCache<string, Buffer>({
    max: maxRememberedKeys,
    memoMethod: (purpose) => derived(`data v1 ${purpose}`),
  });
  return {
    key,
    dataKey: (purpose) => dataKeys.memo(purpose),
    macKey: (purpose) => derived(`mac v1 ${purpose}`),
    id: sha256Hex(key).slice(0, 8),
  };
}

function secretsOf({ secretsKey, dataDir, environment }: Parameters<typeof createSecretBox>[0]): string[] {
  if (secretsKey === undefined) {
    if (environment === 'production') {
      throw new Error(
        'SECRETS_KEY is not set: production does not run on generated secrets (openssl rand -base64 32 makes one)',
      );
    }
    return [generatedKey(dataDir)];
  }
  const keys = secretsKey
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  if (keys.some((key) => key.length < minKeyLength))
    throw new Error(`SECRETS_KEY: a key must have at least ${minKeyLength} characters`);
  return keys;
}

/**
 * Reads or generates the key. Creates the file atomically by a link, so that processes that start at the same time read
 * the same key.
 */
function generatedKey(dataDir: string): string {
  const file = path.join(dataDir, 'secrets.key');
  const present = readKey(file);
  if (present !== undefined) return present;
  mkdirSync(dataDir, { recursive: true });
  const aside = `${file}.${randomUUID()}`;
  writeFileSync(aside, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(aside, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return readKey(file) ?? '';
}

function readKey(file: string): string | undefined {
  try {
    const key = readFileSync(file, 'utf8').trim();
    if (key.length < minKeyLength) throw new Error(`${file} contains no key`);
    return key;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
