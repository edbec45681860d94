import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.js';
import { hasCode } from '../errors.js';

const version = 'v1';
const shortestKey = 32;

/** Encrypts small secrets at rest. `purpose` is bound to the text, so a sealed secret opens only where it belongs. */
export interface SecretBox {
  seal(plain: string, purpose: string): string;
  /** @throws Error when the text was changed, belongs elsewhere, or its key is not among ours */
  open(sealed: string, purpose: string): string;
  /** HMAC-SHA256 in base64url, under a key of that purpose alone. */
  sign(text: string, purpose: string): string;
  /** In constant time, for a signature by any of our keys. */
  isSigned(text: string, signature: string, purpose: string): boolean;
}

interface BoxKey {
  id: string;
  key: Buffer;
  macKey(purpose: string): Buffer;
}

/**
 * AES-256-GCM. Envelope: `v1.<key id>.<iv>.<ciphertext and tag>`, base64url. `SECRETS_KEY` is at least 32 characters;
 * of several, separated by commas, the first seals and all open, so that a key can be replaced. Unset: a key
 * generated once below `dataDir`.
 * @throws Error for a key that is too short, and in production for none at all
 */
export function createSecretBox(config: Pick<Config, 'secretsKey' | 'dataDir' | 'environment'>): SecretBox {
  const keys = secretsOf(config).map(deriveKey);
  const [current] = keys;
  if (!current) throw new Error('SECRETS_KEY holds no key');
  return {
    seal: (plain, purpose) => seal(current, plain, purpose),
    open: (sealed, purpose) => open(keys, sealed, purpose),
    sign: (text, purpose) => mac(current, text, purpose).toString('base64url'),
    isSigned: (text, signature, purpose) => keys.some((key) => isEqual(mac(key, text, purpose), signature)),
  };
}

function mac(key: BoxKey, text: string, purpose: string): Buffer {
  return createHmac('sha256', key.macKey(purpose)).update(text).digest();
}

/** Of several spellings of the same bytes one alone is taken. */
function isEqual(expected: Buffer, signature: string): boolean {
  const given = Buffer.from(signature, 'base64url');
  return given.length === expected.length && timingSafeEqual(given, expected) && given.toString('base64url') === signature;
}

function seal({ id, key }: BoxKey, plain: string, purpose: string): string {
  const iv = randomBytes(12);
  const head = `${version}.${id}`;
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(`${head}.${purpose}`));
  const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${head}.${iv.toString('base64url')}.${body.toString('base64url')}`;
}

function open(keys: readonly BoxKey[], sealed: string, purpose: string): string {
  const [format, id, iv = '', body = ''] = sealed.split('.');
  const known = keys.find((candidate) => candidate.id === id);
  if (format !== version || !known) throw new Error('a stored secret was sealed with a key that SECRETS_KEY does not hold');
  const bytes = Buffer.from(body, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', known.key, Buffer.from(iv, 'base64url'), { authTagLength: 16 })
    .setAAD(Buffer.from(`${format}.${id}.${purpose}`))
    .setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8');
}

function deriveKey(secret: string): BoxKey {
  const derived = (info: string) => Buffer.from(hkdfSync('sha256', secret, '', `governed-context-service ${info}`, 32));
  const key = derived('secret box v1');
  return { key, macKey: (purpose) => derived(`mac v1 ${purpose}`), id: createHash('sha256').update(key).digest('hex').slice(0, 8) };
}

function secretsOf({ secretsKey, dataDir, environment }: Parameters<typeof createSecretBox>[0]): string[] {
  if (secretsKey === undefined) {
    if (environment === 'production') {
      throw new Error('SECRETS_KEY is not set: production does not run on generated secrets (openssl rand -base64 32 makes one)');
    }
    return [generatedKey(dataDir)];
  }
  const keys = secretsKey.split(',').map((key) => key.trim()).filter((key) => key !== '');
  if (keys.some((key) => key.length < shortestKey)) throw new Error(`SECRETS_KEY: a key has at least ${shortestKey} characters`);
  return keys;
}

/** Linked into place whole, so that of several processes that start at once all read the same key. */
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
    if (key.length < shortestKey) throw new Error(`${file} holds no key`);
    return key;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
