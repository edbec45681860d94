import type { RawBody } from './callback-body.js';
import type { Threads } from '../../threads/threads.js';
import { decodedBody, isCompressed } from './decoded-body.js';
import { readCatalogEvents } from './receivers/events-body.js';
import { readPayload } from './downstream/payload.js';
import { readIngest } from './receivers/ingest-body.js';
import { readPush, readRepository } from './receivers/push-body.js';

function decoding<Raw extends RawBody, Result>(read: (raw: Raw) => Result): (raw: Raw) => Result {
  return (raw) => read({ ...raw, body: decodedBody(raw) });
}

/** Pure functions that read the bodies of callbacks, which may be compressed. `src/thread.ts` also runs them. */
export const bodyReaders = {
  readCatalogEvents: decoding(readCatalogEvents),
  readPayload: decoding(readPayload),
  readIngest: decoding(readIngest),
  readPush: decoding(readPush),
  readRepository: decoding(readRepository),
};

type Readers = typeof bodyReaders;
type Given<Name extends keyof Readers> = Omit<Parameters<Readers[Name]>[0], 'maxBytes'> & { maxBytes?: number };
export type ReadBody = <Name extends keyof Readers>(
  name: Name,
  given: Given<Name>,
) => Promise<ReturnType<Readers[Name]>>;

/** Checking the 5,000 values that fit takes about 20 ms. A body of 150 KB may contain 50,000 values. */
const maxInlineBytes = 16 * 1024;

/**
 * Creates a function that reads small bodies directly, and large and compressed ones in a thread. A compressed body may
 * have `bodyLimit` bytes after decoding, unless the caller gives a lower limit. It throws the errors of the reader.
 */
export function createReadBody(threads: Threads, bodyLimit: number): ReadBody {
  return async (name, given) => {
    const raw = { maxBytes: bodyLimit, ...given } as never;
    // The sender is known only after the body is read. Compressed bodies wait for each other, and delay no others.
    if (isCompressed(given)) return threads.run(name, raw, { owner: `${name}, compressed` });
    if (given.body.length > maxInlineBytes) return threads.run(name, raw, { owner: name });
    return bodyReaders[name](raw) as never;
  };
}

declare module '../../threads/threads.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface ThreadJobs extends Readers {}
}
