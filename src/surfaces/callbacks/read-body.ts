import type { RawBody } from './callback-body.js';
import type { Threads } from '../../threads/threads.js';
import { readCatalogEvents } from './receivers/events-body.js';
import { readPayload } from './downstream/payload.js';
import { readIngest } from './receivers/ingest-body.js';
import { readPush } from './receivers/push-body.js';

/** Pure functions that read the bodies of callbacks. `src/thread.ts` also runs them. */
export const bodyReaders = { readCatalogEvents, readPayload, readIngest, readPush };

type Readers = typeof bodyReaders;
export type ReadBody = <Name extends keyof Readers>(name: Name, raw: RawBody) => Promise<ReturnType<Readers[Name]>>;

/** Checking the 5,000 values that fit takes about 20 ms. A body of 150 KB may contain 50,000 values. */
const maxInlineBytes = 16 * 1024;

/**
 * Creates a function that reads small bodies directly and large ones in a thread. It throws the errors of the reader.
 */
export function createReadBody(threads: Threads): ReadBody {
  return async (name, raw) => {
    // The sender is known only after the body is read.
    if (raw.body.length > maxInlineBytes) return threads.run(name, raw, { owner: name });
    return bodyReaders[name](raw) as never;
  };
}

declare module '../../threads/threads.js' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type
  interface ThreadJobs extends Readers {}
}
