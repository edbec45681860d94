import { secondsToWait } from './retry.js';
import { ServiceError } from './service-error.js';
import type { Transport } from './transport.js';

export interface FollowOptions {
  signal?: AbortSignal;
  /** Skips events up to the one with this `seq`. For a project, `seq` is a time. */
  lastEventId?: number;
}

/**
 * Yields the events of an execution until its last one, or of a project without end. Resumes an interrupted stream by
 * `Last-Event-ID`, until `maxAttempts` connections in a row have failed.
 */
export async function* followEvents<E extends object>(
  transport: Transport,
  path: string,
  { signal, lastEventId }: FollowOptions = {},
): AsyncGenerator<E, void, undefined> {
  const { maxAttempts, sleep } = transport.retry;
  const options = signal ? { signal } : {};
  let last = lastEventId;
  for (let failures = 0; ;) {
    const before = last;
    try {
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': String(last) }) };
      const response = await transport.open('platform', { method: 'GET', path, headers }, options);
      if (response.status === 204 || !response.body) return;
      for await (const data of dataOf(response.body)) {
        const event = JSON.parse(data) as E;
        // The words of a model turn have no `seq`. After a reconnection, the service sends them again.
        if ('seq' in event) last = event.seq as number;
        failures = 0;
        yield event;
      }
    } catch (error) {
      failures += 1;
      if (error instanceof ServiceError || signal?.aborted || failures >= maxAttempts) throw error;
    }
    if (last === before) await sleep(secondsToWait(Math.max(1, failures), null, transport.retry), signal);
  }
}

/**
 * Yields the `data` of each server-sent event (WHATWG HTML, 9.2.6). An event without a final empty line is incomplete.
 */
async function* dataOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const chunk of chunksOf(body)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.map((text) => text.replace(/\r$/, ''))) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      if (line === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      }
    }
  }
}

/** In some browsers, a stream cannot be iterated. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // A consumer that stops early closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}
