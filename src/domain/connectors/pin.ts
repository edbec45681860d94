import { randomBytes, timingSafeEqual } from 'node:crypto';
import { sha256, sha256Hex } from '../../base/hash.js';

/** 192 random bits in the alphabet of callback paths. */
export function newPin(): string {
  return randomBytes(24).toString('base64url');
}

/** Compares in constant time. Pass `undefined` for an unknown connector, so that it takes as long as a wrong pin. */
export function isPin(pin: string, pinHash: string | undefined): boolean {
  const expected = Buffer.from(pinHash ?? sha256Hex(''), 'hex');
  return timingSafeEqual(sha256(pin), expected) && pinHash !== undefined;
}
