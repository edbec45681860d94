import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { createTurns } from '../base/turns.js';

/** The recommendation of OWASP for argon2id, the library's default algorithm: 19 MiB, two passes, one lane. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const limits = {
  what: 'passwords to check',
  whose: 'this process',
  code: 'unavailable',
  // Half of libuv's thread pool. File access and name resolution need the rest.
  maxRunning: 2,
  // Equals about one second of work.
  maxWaiting: 64,
  waitTimeoutMs: 60_000,
} as const;

export function hashPassword(password: string): Promise<string> {
  return hash(password, options);
}

const decoy = hashPassword(randomBytes(16).toString('hex'));

/**
 * Verifies a password. Takes the same time for an unknown user (no stored hash), so that timing does not reveal which
 * accounts exist.
 */
export async function verifyPassword(stored: string | undefined, password: string): Promise<boolean> {
  const matches = await verify(stored ?? (await decoy), password);
  return stored !== undefined && matches;
}

/**
 * Provides `hashPassword` and `verifyPassword` to requests, with a limit on concurrent work.
 * @throws AppError `unavailable` above the limit
 */
export function createPasswords() {
  const turns = createTurns(limits);
  return {
    hash: (password: string) => turns.take('', () => hashPassword(password)),
    verify: (stored: string | undefined, password: string) => turns.take('', () => verifyPassword(stored, password)),
  };
}
