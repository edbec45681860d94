import { randomBytes } from 'node:crypto';

/** Secrets of one kind: a prefix and 32 random bytes in base64url. Only their hashes are stored. */
export function secretTokens(prefix: string) {
  const wellFormed = new RegExp(`^${prefix}[A-Za-z0-9_-]{43}$`);
  return {
    create: (): string => prefix + randomBytes(32).toString('base64url'),
    isWellFormed: (text: string): boolean => wellFormed.test(text),
  };
}
