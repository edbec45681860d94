import { afterAll, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { createHttpClient, type HttpRequest } from '../../src/outbound/http-client.js';
import { isOutboundError } from '../../src/outbound/outbound-error.js';
import { eventually } from '../support/eventually.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const server = await useHttpSink();
const client = createHttpClient({ allowPrivateTargets: true });
const never = new AbortController().signal;
const call = (path: string, options: Partial<HttpRequest> = {}) =>
  client.request({ method: 'GET', url: server.url + path, timeoutMs: 5000, signal: never, ...options });

afterAll(() => client.close());

describe('createHttpClient', () => {
  test('sends method, headers and body and returns status, headers and body', async () => {
    server.answer(
      '/echo',
      ({ body, headers }, res) => void res.writeHead(201, { 'x-seen': String(headers['x-sent']) }).end(body),
    );
    const answer = await call('/echo?a=1', { method: 'POST', headers: { 'x-sent': 'yes' }, body: 'grüß' });
    expect(answer).toMatchObject({ status: 201, headers: { 'x-seen': 'yes' } });
    expect(answer.body.toString()).toBe('grüß');
  });

  test('joins a chunked answer', async () => {
    server.answer('/chunked', (_, res) => {
      res.write('one ');
      setImmediate(() => res.end('two'));
    });
    expect((await call('/chunked')).body.toString()).toBe('one two');
  });

  test('returns a redirect as the answer and does not follow it', async () => {
    server.answer(
      '/moved',
      (_, res) => void res.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    );
    expect(await call('/moved')).toMatchObject({
      status: 302,
      headers: { location: 'http://169.254.169.254/latest/meta-data/' },
    });
  });

  test.each(['declared', 'streamed'])('aborts a %s body of 10 MB', async (kind) => {
    let closed = false;
    server.answer(`/huge-${kind}`, (_, res) => {
      res.on('close', () => (closed = true));
      if (kind === 'declared') res.setHeader('content-length', 10_000_000);
      const write = () => {
        if (!res.destroyed) res.write(Buffer.alloc(64 * 1024), () => setImmediate(write));
      };
      write();
    });
    await expect(call(`/huge-${kind}`)).rejects.toMatchObject({ code: 'too_large', retryable: false });
    await eventually(() => expect(closed).toBe(true));
  });

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['gzip, br', (body: Buffer) => brotliCompressSync(gzipSync(body))],
    ['identity', (body: Buffer) => body],
    ['GZIP', (body: Buffer) => body],
  ])('decodes %s, and limits the decoded body', async (encoding, encode) => {
    verifies('action.restful.encodings');
    const text = 'grüß '.repeat(1000);
    const answer = (body: Buffer) => (_: unknown, res: ServerResponse) =>
      void res.writeHead(200, { 'content-encoding': encoding }).end(encode(body));
    server.answer('/encoded', answer(Buffer.from(text)));
    expect((await call('/encoded', { timeoutMs: 60_000 })).body.toString()).toBe(text);
    server.answer('/bomb', answer(Buffer.alloc(2_000_000)));
    await expect(call('/bomb', { timeoutMs: 60_000 })).rejects.toMatchObject({ code: 'too_large', retryable: false });
  });

  test.each([
    ['br', 'not brotli'],
    ['deflate', 'not deflate'],
    ['zstd', 'anything'],
    ['gzip, gzip, gzip, gzip', 'anything'],
  ])('refuses a body that is not %s', async (encoding, body) => {
    verifies('action.restful.encodings');
    server.answer('/odd', (_, res) => void res.writeHead(200, { 'content-encoding': encoding }).end(body));
    await expect(call('/odd', { timeoutMs: 60_000 })).rejects.toMatchObject({
      code: 'action_refused',
      retryable: false,
    });
  });

  test('accepts a body of exactly the maximum size', async () => {
    server.answer('/full', (_, res) => void res.end(Buffer.alloc(1000)));
    expect((await call('/full', { maxBytes: 1000 })).body).toHaveLength(1000);
    await expect(call('/full', { maxBytes: 999 })).rejects.toMatchObject({ code: 'too_large' });
  });

  test('ends at its deadline if no answer comes and if its body stalls', async () => {
    const release = server.hold('/silent');
    server.answer('/stalls', (_, res) => void res.write('half'));
    for (const path of ['/silent', '/stalls']) {
      await expect(call(path, { timeoutMs: 200 })).rejects.toMatchObject({
        code: 'timeout',
        retryable: true,
        message: 'no answer within 0.2 s',
      });
    }
    release();
  });

  test('ends at its deadline while a name is still being resolved', async () => {
    const stuck = createHttpClient({ allowPrivateTargets: false, lookup: () => undefined });
    const request = { method: 'GET', url: 'http://slow.example/', timeoutMs: 100, signal: never } as const;
    await expect(stuck.request(request)).rejects.toMatchObject({ code: 'timeout' });
    await stuck.close();
  });

  test('rejects with the reason of its signal', async () => {
    const release = server.hold('/cancelled');
    const abort = new AbortController();
    const answer = call('/cancelled', { signal: abort.signal });
    await eventually(() => expect(server.seen('/cancelled')).toHaveLength(1));
    abort.abort(new Error('cancelled by us'));
    await expect(answer).rejects.toThrow('cancelled by us');
    await expect(call('/echo', { signal: abort.signal })).rejects.toThrow('cancelled by us');
    release();
  });

  test.each(['before', 'within'])('reports a connection that breaks %s the answer', async (when) => {
    server.answer(`/reset-${when}`, (_, res) => {
      if (when === 'before') return void res.socket?.resetAndDestroy();
      res.setHeader('content-length', 100);
      res.write('half', () => res.socket?.resetAndDestroy());
    });
    await expect(call(`/reset-${when}`)).rejects.toMatchObject({ code: 'unreachable', retryable: true });
  });

  test('reports a closed port without naming the address', async () => {
    const error: unknown = await call('/', { url: 'http://127.0.0.1:1/secret?token=abc' }).catch(
      (reason: unknown) => reason,
    );
    expect(isOutboundError(error) && error.code).toBe('unreachable');
    expect(String(error)).not.toMatch(/127\.0\.0\.1|secret|abc/);
  });
});
