import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { ownProduct } from '../../support/own-product.js';
import type { Api } from '../../support/processes.js';
import { verifies } from '../../support/verifies.js';
import { rawExchange, startUpstream, statusIn, type Upstream } from './harness.js';

useDeps();
const limit = 6 * 1024 * 1024;
const environment: Record<string, string> = {
  DOWNSTREAM_PORT: '0',
  CALLBACK_BODY_LIMIT: String(limit),
  CALLBACK_TIMEOUT_MS: '1500',
};
const product = ownProduct(environment);
let upstream: Upstream;
let api: Api;
beforeAll(async () => {
  upstream = await startUpstream();
  environment.CALLBACK_DOWNSTREAM_URL = upstream.url;
  api = await product.api();
});
beforeEach(() => upstream.reset());
afterAll(() => upstream.close());

const paths = [
  '/actions/professional_network/notify/con-1/pin_2',
  '/actions/mail/notify/con-1/pin_2',
  '/actions/messaging/notify/con-1/pin_2',
  '/account-provider-webhook/project-1/con-1',
  '/voice-provider/trigger_1',
  '/media-provider/trigger_1',
] as const;

const post = (path: string, body?: string | Uint8Array | ReadableStream, headers: Record<string, string> = {}) =>
  fetch(api.url + path, {
    method: 'POST',
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: body as never }),
  });

describe('the six forwarded receivers', () => {
  test('forward method, path and body, and return the acknowledgement', async () => {
    verifies(
      'env.callback-downstream-url',
      'callbacks.notify.professional-network',
      'callbacks.notify.mail',
      'callbacks.notify.messaging',
    );
    verifies('callbacks.account-provider', 'callbacks.voice-provider', 'callbacks.media-provider');
    for (const path of paths) {
      const answer = await post(path, '{"a": 1}', { 'content-type': 'application/json; charset=utf-8' });
      expect([answer.status, await answer.json()]).toEqual([202, { status: 'accepted' }]);
    }
    expect(upstream.received.map(({ method, target }) => [method, target])).toEqual(
      paths.map((path) => ['POST', path]),
    );
    expect(upstream.received.map(({ body }) => body.toString())).toEqual(paths.map(() => '{"a": 1}'));
  });

  test('forward only Content-Type and ignore Authorization', async () => {
    verifies('callbacks.content-type-alone', 'callbacks.no-authorization');
    const own = { 'x-forwarded-for': '1.2.3.4', cookie: 'a=b', 'x-api-key': 'secret', 'user-agent': 'provider' };
    for (const authorization of ['Bearer nonsense', 'Basic Og==', 'svc_sk_x']) {
      expect((await post(paths[4], 'x', { ...own, 'content-type': 'application/x-thing', authorization })).status).toBe(
        202,
      );
    }
    for (const { headers } of upstream.received) {
      expect(Object.keys(headers).sort()).toEqual(['connection', 'content-length', 'content-type', 'host']);
      expect(headers['content-type']).toBe('application/x-thing');
    }
    await rawExchange(
      api.port,
      `POST ${paths[4]} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx`,
    );
    expect(upstream.received.at(-1)?.headers['content-type']).toBeUndefined();
  });

  test('answer 405 with Allow to another method', async () => {
    for (const method of ['DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await fetch(api.url + paths[4], { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD, POST, PUT']);
    }
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const answer = await fetch(api.url + paths[0], { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST, PUT']);
    }
    expect(upstream.received).toEqual([]);
  });

  test('answer no token for an address that the service does not know', async () => {
    verifies('callbacks.challenges');
    for (const path of paths.slice(3))
      expect((await fetch(`${api.url}${path}?hub.mode=subscribe&hub.challenge=abc`)).status).toBe(404);
    expect((await post(`${paths[4]}?validationToken=abc`)).status).toBe(404);
    expect(upstream.received).toEqual([]);
  });

  test('forward PUT as POST', async () => {
    expect((await fetch(api.url + paths[4], { method: 'PUT', body: 'x' })).status).toBe(202);
    expect(upstream.received.map(({ method, body }) => [method, body.toString()])).toEqual([['POST', 'x']]);
  });
});

describe('the body', () => {
  const bodies: [string, Buffer, string][] = [
    ['0 bytes', Buffer.alloc(0), 'application/json'],
    ['1 byte', Buffer.from([0xff]), 'application/octet-stream'],
    ['5 MiB at random', randomBytes(5 * 1024 * 1024), 'application/octet-stream'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x7d]), 'application/json'],
    ['a form', Buffer.from('a=1&a=%20+b&c=%E2%82%AC&event='), 'application/x-www-form-urlencoded'],
    ['JSON with its own spacing', Buffer.from('{ "b" :\r\n1,\t"a":1.0e0 }\n'), 'application/json'],
    ['bytes that claim to be compressed', randomBytes(64), 'application/json'],
  ];
  test.each(bodies)('is forwarded byte for byte: %s, with its length and chunked', async (_what, body, type) => {
    verifies('callbacks.bytes');
    const headers = { 'content-type': type };
    expect((await post(paths[3], body, headers)).status).toBe(202);
    const chunked = Readable.toWeb(
      Readable.from(body.length === 0 ? [] : [body.subarray(0, 1), body.subarray(1)].filter((part) => part.length > 0)),
    );
    const answer = await fetch(api.url + paths[3], {
      method: 'POST',
      headers: { ...headers, 'content-encoding': 'gzip' },
      body: chunked,
      duplex: 'half',
    } as never);
    expect(answer.status).toBe(202);
    expect(upstream.received.map((request) => request.body.equals(body))).toEqual([true, true]);
    expect(upstream.received.map((request) => request.headers['content-length'])).toEqual([
      String(body.length),
      String(body.length),
    ]);
  });

  test('of exactly the limit is accepted, and one byte more is answered 413, with and without Content-Length', async () => {
    verifies('env.callback-body-limit', 'callbacks.too-large');
    expect((await post(paths[4], Buffer.alloc(limit))).status).toBe(202);
    const head = `POST ${paths[4]} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const announced = await rawExchange(api.port, `${head}Content-Length: ${limit + 1}\r\n\r\nxx`);
    expect(statusIn(announced)).toBe(413);
    expect(announced).toContain('payload_too_large');
    const chunk = Buffer.concat([
      Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${(limit + 1).toString(16)}\r\n`),
      Buffer.alloc(limit + 1),
    ]);
    expect(statusIn(await rawExchange(api.port, chunk))).toBe(413);
    expect(upstream.received).toHaveLength(1);
  });

  test('with a wrong Content-Length is never forwarded in part and does not affect other requests', async () => {
    verifies('callbacks.content-length');
    const head = `POST ${paths[4]} HTTP/1.1\r\nHost: x\r\n`;
    await rawExchange(api.port, `${head}Content-Length: 100\r\n\r\nonly this`, { end: true });
    await rawExchange(api.port, `${head}Content-Length: 100\r\n\r\nonly this`, { quietMs: 300 });
    for (const lie of [
      'Content-Length: -1',
      'Content-Length: 1x',
      'Content-Length: 3\r\nContent-Length: 4',
      'Content-Length: 3\r\nTransfer-Encoding: chunked',
    ]) {
      expect([lie, statusIn(await rawExchange(api.port, `${head}${lie}\r\n\r\nabc`))]).toEqual([lie, 400]);
    }
    expect(statusIn(await rawExchange(api.port, `${head}Content-Length: 3\r\n\r\nabcdefgh`))).toBe(400);
    expect((await post(paths[4], 'after')).status).toBe(202);
    expect(upstream.received.map(({ body }) => body.toString())).toEqual(['after']);
  });

  test('that is interrupted between its chunks is not forwarded', async () => {
    verifies('callbacks.content-length');
    await rawExchange(
      api.port,
      `POST ${paths[4]} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
      { end: true },
    );
    await rawExchange(
      api.port,
      `POST ${paths[4]} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n`,
    );
    expect((await post(paths[4], 'after')).status).toBe(202);
    expect(upstream.received.map(({ body }) => body.toString())).toEqual(['after']);
  });
});

test('slow bodies to receivers without verification leave capacity for receivers with verification', async () => {
  verifies('callback.unverified-budget');
  const half = (path: string) => {
    const socket = connect(api.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${limit}\r\n\r\n`);
    socket.write(Buffer.alloc(limit - 1));
    return socket;
  };
  const slow = Array.from({ length: 10 }, () => half(paths[4]));
  try {
    await eventually(async () => {
      // Concurrent bodies can all be refused, so another body uses the capacity that they freed.
      slow.push(half(paths[4]));
      expect((await post(paths[5], Buffer.alloc(limit))).status).toBe(503);
    });
    expect((await post('/v1/codesync/webhook/github', Buffer.alloc(limit), { 'x-github-event': 'ping' })).status).toBe(
      200,
    );
  } finally {
    for (const socket of slow) socket.destroy();
  }
  await eventually(async () => expect((await post(paths[5], Buffer.alloc(limit))).status).toBe(202));
});

describe('the path', () => {
  const tricks = [
    '/voice-provider/a%2fb',
    '/voice-provider/a%5cb',
    '/voice-provider/..',
    '/voice-provider/../media-provider/x',
    '/voice-provider/%2e%2e/x',
    '/voice-provider//x',
    '//voice-provider/x',
    '/voice-provider/x/',
    '/voice-provider/',
    '/voice-provider/a@b',
    '/voice-provider/x;y',
    '/voice-provider/a.b',
    '/voice-provider/@127.0.0.1/x',
    'http://127.0.0.1:1/voice-provider/x',
    '//127.0.0.1/voice-provider/x',
    '/voice-provider/a\\b',
    '/voice-provider/x/../../../admin',
    '/VOICE-PROVIDER/x',
    '/voice-provider/%78',
    `/voice-provider/${'a'.repeat(129)}`,
    '/voice-provider/x%00',
    '/actions/content_creator/notify/a/b',
    '/actions/mail/notify/a',
    '/actions/mail/notify/a/b/c',
    '/actions/mail/notify/a%2fb',
    '/account-provider-webhook/a',
    '/./voice-provider/x',
    '/voice-provider/x#y',
  ];
  test('cannot reach another target', async () => {
    verifies('callbacks.path-prefix');
    for (const trick of tricks) {
      const answer = await rawExchange(
        api.port,
        `POST ${trick} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect([trick, statusIn(answer)]).toEqual([trick, 404]);
    }
    for (const bytes of ['/voice-provider/\xe9', '/voice-provider/a\x01b', '/voice-provider/a\tb']) {
      const request = Buffer.from(
        `POST ${bytes} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
        'latin1',
      );
      expect([400, 404]).toContain(statusIn(await rawExchange(api.port, request)));
    }
    expect(upstream.received).toEqual([]);
  });

  test('keeps its query unchanged', async () => {
    expect((await post(`${paths[4]}?next=http://evil.example/@x&a=../..`, 'x')).status).toBe(202);
    expect(upstream.received.map(({ target }) => target)).toEqual([paths[4]]);
  });
});

describe('the answer', () => {
  test('has the status of the downstream and no data of a caller', async () => {
    verifies('callbacks.status-mirrored');
    for (const status of [200, 201, 202, 400, 404, 409, 418, 429, 500, 503]) {
      upstream.answer((_request, res) =>
        res
          .writeHead(status, { 'content-type': 'text/html', 'set-cookie': 'a=b', 'x-secret': '1' })
          .end('<h1>internals</h1>'),
      );
      const answer = await post(paths[4], 'x');
      expect(answer.status).toBe(status);
      expect([answer.headers.get('set-cookie'), answer.headers.get('x-secret')]).toEqual([null, null]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await answer.text()).not.toContain('internals');
    }
    upstream.answer((_request, res) => res.writeHead(204).end());
    expect((await post(paths[4], 'x')).status).toBe(204);
    upstream.answer(({ body }, res) =>
      res
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ ok: true, echo: body.toString(), nested: { body: body.toString() } })),
    );
    expect(await (await post(paths[4], 'the caller wrote this')).json()).toEqual({ ok: true });
    upstream.answer(({ body }, res) => res.setHeader('content-type', 'application/json').end(body));
    expect(await (await post(paths[4], '{"card_number":"4111111111111111"}')).json()).toEqual({ status: 'accepted' });
    upstream.answer((_request, res) =>
      res.setHeader('content-type', 'application/json').end(JSON.stringify({ status: 'x'.repeat(100_000) })),
    );
    expect(await (await post(paths[4], 'x')).json()).toEqual({ status: 'accepted' });
  });

  test('is 502 for a redirect, which is not followed', async () => {
    verifies('callbacks.no-redirects');
    for (const status of [301, 302, 303, 304, 307, 308]) {
      upstream.reset();
      upstream.answer((_request, res) => res.writeHead(status, { location: `${upstream.url}/elsewhere` }).end());
      const answer = await post(paths[4], 'x');
      expect([answer.status, answer.headers.get('location'), await answer.json()]).toMatchObject([
        502,
        null,
        { error: 'upstream_unreachable' },
      ]);
      expect(upstream.received).toHaveLength(1);
    }
  });

  test('is 504 if the head or the body of the downstream is too slow', async () => {
    verifies('callbacks.too-slow');
    upstream.answer(() => undefined);
    const begun = Date.now();
    const answer = await post(paths[4], 'x');
    expect([answer.status, await answer.json()]).toMatchObject([504, { error: 'upstream_timeout' }]);
    // The configured limit applies, not the default of 30 seconds.
    expect(Date.now() - begun).toBeLessThan(28_000);
    upstream.answer((_request, res) => void res.writeHead(200, { 'content-type': 'application/json' }).write('{'));
    expect((await post(paths[4], 'x')).status).toBe(504);
  });

  test('is 502 if the downstream does not listen or closes the connection', async () => {
    verifies('errors.code.upstream_unreachable', 'callbacks.unreachable');
    upstream.answer((_request, res) => void res.socket?.destroy());
    expect([(await post(paths[4], 'x')).status]).toEqual([502]);
    await upstream.close();
    const answer = await post(paths[4], 'x');
    expect([answer.status, await answer.json()]).toMatchObject([
      502,
      { error: 'upstream_unreachable', error_description: expect.any(String) },
    ]);
    await eventually(async () => expect((await fetch(`${api.url}/healthz`)).status).toBe(200));
  });
});
