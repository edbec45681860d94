import { afterAll } from '@jest/globals';
import { startHttpSink, type HttpSink } from './http-sink.js';

/** A server for the outgoing calls of a test file; closed afterwards. */
export async function useHttpSink(): Promise<HttpSink> {
  const sink = await startHttpSink();
  afterAll(() => sink.close());
  return sink;
}
