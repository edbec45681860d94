import { setImmediate } from 'node:timers/promises';

const windowBytes = 1024 * 1024;

/** Splits a large body into overlapping pieces, one per turn of the event loop, so that a search does not block it. */
export async function* windowsOf(body: Buffer, overlap: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += windowBytes) {
    if (at > 0) await setImmediate();
    yield body.subarray(at, at + windowBytes + overlap);
  }
}
