import { randomFillSync } from 'node:crypto';

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
