import { afterAll } from '@jest/globals';
import { startHttpSink, type HttpSink } from './http-sink.js';

/** A server for what the tests of a file call; closed after them. */
export async function useHttpSink(): Promise<HttpSink> {
  const sink = await startHttpSink();
  afterAll(() => sink.close());
  return sink;
}
