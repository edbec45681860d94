import { createHash, hash } from 'node:crypto';
import { z } from 'zod';

/** The schema of a SHA-256 in lowercase hexadecimal digits. */
export const Digest = z.string().meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' });

export function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

/** Returns the hash in lowercase hexadecimal digits. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash('sha256', content);
}
