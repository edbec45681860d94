import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.js';

/** `sha256=` and the digest in hex, as code hosts write it. */
export const hubForm = /^sha256=([0-9a-f]{64})$/i;
/** The prefix may be missing, as data catalogs write it. */
export const catalogForm = /^(?:sha256=)?([0-9a-f]{64})$/i;

/**
 * Compares an HMAC-SHA256 over the bytes as received, in constant time.
 * @throws AppError `invalid_signature`, alike for a missing, malformed and wrong one
 */
export function verifySignature(given: string | undefined, form: RegExp, secret: string, body: Buffer): void {
  const digest = form.exec(given ?? '')?.[1];
  const expected = createHmac('sha256', secret).update(body).digest();
  if (digest === undefined || !timingSafeEqual(Buffer.from(digest, 'hex'), expected)) {
    throw new AppError('invalid_signature', 'signature mismatch: the signature is missing or does not match the body');
  }
}

/** Compares secrets of any length in a time that tells neither content nor length; nothing equals an unset one. */
export function isSameSecret(given: string | undefined, secret: string | undefined): boolean {
  const same = timingSafeEqual(sha256(given ?? ''), sha256(secret ?? ''));
  return same && given !== undefined && secret !== undefined && secret !== '';
}

export function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}
