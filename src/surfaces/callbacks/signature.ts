import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../base/errors.js';
import { sha256 } from '../../base/hash.js';

/** Matches the format of code hosts: `sha256=` and the digest in hex. */
export const hubForm = /^sha256=([0-9a-f]{64})$/i;
/** Accepts a digest without the prefix, which data catalogs may omit. */
export const catalogForm = /^(?:sha256=)?([0-9a-f]{64})$/i;

/**
 * Compares an HMAC-SHA256 over the received bytes in constant time.
 * @throws AppError `invalid_signature` for a missing, malformed or wrong signature
 */
export function verifySignature(signature: string | undefined, form: RegExp, secret: string, body: Buffer): void {
  if (!isSignedBy(signature, form, secret, body)) throw mismatch();
}

export function isSignedBy(signature: string | undefined, form: RegExp, secret: string, body: Buffer): boolean {
  const digest = form.exec(signature ?? '')?.[1];
  const expected = createHmac('sha256', secret).update(body).digest();
  return digest !== undefined && timingSafeEqual(Buffer.from(digest, 'hex'), expected);
}

export function mismatch(): AppError {
  return new AppError('invalid_signature', 'signature mismatch: the signature is missing or does not match the body');
}

/** Compares secrets in a time that reveals neither content nor length. An unset secret matches nothing. */
export function isSameSecret(presented: string | undefined, secret: string | undefined): boolean {
  const same = timingSafeEqual(sha256(presented ?? ''), sha256(secret ?? ''));
  return same && presented !== undefined && secret !== undefined && secret !== '';
}
