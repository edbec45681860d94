import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../errors.js';

/** The recommendation of OWASP for argon2id, the library's default algorithm: 19 MiB, two passes, one lane. */
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Half of libuv's thread pool. File access and name resolution need the rest. */
const maxRunning = 2;
/** Equals about one second of work. */
const maxWaiting = 64;

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
export interface Passwords {
  hash(password: string): Promise<string>;
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

export function createPasswords(): Passwords {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function bounded<T>(work: () => Promise<T>): Promise<T> {
    if (running < maxRunning) running += 1;
    else if (waiting.length < maxWaiting) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw new AppError('unavailable', 'too many passwords are being checked; try again', { retryAfterSeconds: 1 });
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return {
    hash: (password) => bounded(() => hashPassword(password)),
    verify: (stored, password) => bounded(() => verifyPassword(stored, password)),
  };
}
