import { randomFillSync } from 'node:crypto';

/** Filled at once, because each call of the random generator is expensive. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/** A view of random bytes, valid until the next call. */
export function someRandomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}
