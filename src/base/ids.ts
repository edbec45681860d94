import { randomFillSync } from 'node:crypto';
import { v7, validate } from 'uuid';
import { z } from 'zod';
import { sha256 } from './hash.js';

/** An id in the examples of the API reference. */
export const exampleId = '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10';

/** Ids with an example for the API reference. `Id` is for all other records. */
export const Id = z.string().meta({ example: exampleId });
export const ProjectId = z.string().meta({ example: '0199a6ef-11d0-7b54-8c3a-9e7d6f5a4b3c' });
export const OrganizationId = z.string().meta({ example: '0199a6ee-8f02-7a11-b6c5-2d3e4f5a6b7c' });
export const UserId = z.string().meta({ example: '0199a6ed-4c5d-7f21-8a9b-0c1d2e3f4a5b' });

const maxSequence = 0xffff_ffff;
let newest = { msecs: 0, seq: 0 };

/**
 * Returns a new record id. It is a UUIDv7, so ids sort by creation time, even within one millisecond (RFC 9562, 6.2,
 * method 1).
 */
export function newId(): string {
  const random = someRandomBytes(16);
  const { msecs, seq } = newest;
  const now = Date.now();
  if (now > msecs) newest = { msecs: now, seq: random.readUInt32BE(0) >>> 1 };
  else newest = seq === maxSequence ? { msecs: msecs + 1, seq: 0 } : { msecs, seq: seq + 1 };
  return v7({ ...newest, random });
}

/** Derives the same UUIDv7 from the same time (epoch seconds) and text, so that a retry creates the same record. */
export function derivedId(at: number, text: string): string {
  return v7({ msecs: Math.floor(at * 1000), random: sha256(text).subarray(0, 16) });
}

/** Returns a UUIDv7 below all others of the same time (epoch seconds) and above all earlier ones. */
export function firstIdAt(at: number): string {
  return v7({ msecs: Math.floor(at * 1000), random: new Uint8Array(16) });
}

/** Returns the creation time of a UUIDv7 in epoch seconds. */
export function timeOfId(id: string): number | undefined {
  return isId(id) && id[14] === '7' ? parseInt(id.replaceAll('-', '').slice(0, 12), 16) / 1000 : undefined;
}

export function isId(value: string): boolean {
  return validate(value);
}

/** Filled as a whole, because each call of the random generator is expensive. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Returns a view of random bytes that is valid until the next call. */
export function someRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}
