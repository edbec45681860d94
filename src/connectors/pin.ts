import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 192 random bits in the alphabet of callback paths. */
export function newPin(): string {
  return randomBytes(24).toString('base64url');
}

export function hashPin(pin: string): string {
  return createHash('sha256').update(pin).digest('hex');
}

/** In constant time; pass an unknown connector's `undefined` as well, so that it takes as long as a wrong pin. */
export function isPin(pin: string, pinHash: string | undefined): boolean {
  const expected = Buffer.from(pinHash ?? hashPin(''), 'hex');
  return timingSafeEqual(createHash('sha256').update(pin).digest(), expected) && pinHash !== undefined;
}
