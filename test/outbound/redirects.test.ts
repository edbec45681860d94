import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { LookupFunction } from 'node:net';
import { createHttpClient, isBelow, type HttpRequest } from '../../src/outbound/http-client.js';
import { createSmtpClient } from '../../src/outbound/smtp-client.js';
import { useHttpSink } from '../support/use-http-sink.js';
import { verifies } from '../support/verifies.js';

const server = await useHttpSink();
const other = await useHttpSink();
const open = createHttpClient({ allowPrivateTargets: true });
/** Resolves `.test` names by the table, one entry per lookup; lookups are recorded. */
const names = new Map<string, string[]>();
const asked: string[] = [];
const lookup: LookupFunction = (hostname, _options, callback) => {
  asked.push(hostname);
  const address = names.get(hostname)?.shift() ?? '127.0.0.1';
  callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
};
let guarded: ReturnType<typeof createHttpClient>;
const signal = new AbortController().signal;
const get = (url: string, options: Partial<HttpRequest> = {}) => ({
  method: 'GET' as const,
  url,
  timeoutMs: 3000,
  maxRedirects: 5,
  signal,
  ...options,
});
const redirect = (path: string, location: string, status = 302) =>
  server.answer(path, (_, res) => void res.writeHead(status, { location }).end());

beforeAll(async () => {
  // The server represents a public one: only its own address is allowed although it is private.
  guarded = createHttpClient({ allowPrivateTargets: false, ownOrigin: server.url, lookup });
});
afterAll(() => Promise.all([open.close(), guarded.close()]));

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('of %d are followed for GET, including relative ones', async (status) => {
    redirect(`/from-${status}`, `there-${status}`, status);
    expect(JSON.parse((await open.request(get(`${server.url}/from-${status}`))).body.toString())).toEqual({
      ok: true,
      path: `/there-${status}`,
    });
  });

  test.each([
    ['POST', 301, 'GET'],
    ['POST', 302, 'GET'],
    ['POST', 303, 'GET'],
    ['PUT', 303, 'GET'],
    ['DELETE', 303, 'GET'],
    ['POST', 307, 'POST'],
    ['POST', 308, 'POST'],
    ['PUT', 301, 'PUT'],
    ['PATCH', 302, 'PATCH'],
    ['DELETE', 302, 'DELETE'],
  ] as const)('of %s with %d lead to %s, and only this method has the body', async (method, status, next) => {
    verifies('action.restful.redirects');
    redirect('/moved', '/there', status);
    server.requests.length = 0;
    const followed: string[] = [];
    await open.request(
      get(`${server.url}/moved`, {
        ...{ method, body: 'x', headers: { 'content-type': 'text/plain', 'x-kept': 'yes' } },
        onRedirect: ({ pathname }, nextMethod) => void followed.push(`${nextMethod} ${pathname}`),
      }),
    );
    expect(followed).toEqual([`${next} /there`]);
    const [, reached] = server.requests;
    expect(reached).toMatchObject({ method: next, body: next === method ? 'x' : '', headers: { 'x-kept': 'yes' } });
    expect(reached?.headers['content-type']).toBe(next === method ? 'text/plain' : undefined);
  });

  test('are not followed if the target is refused, whatever the method', async () => {
    redirect('/moved', '/there', 307);
    server.requests.length = 0;
    const refused = get(`${server.url}/moved`, {
      ...{ method: 'POST', body: 'x' },
      onRedirect: () => {
        throw new Error('refused');
      },
    });
    await expect(open.request(refused)).rejects.toThrow('refused');
    expect(server.requests).toHaveLength(1);
  });

  test('carry own headers only within the first origin', async () => {
    verifies('action.restful.redirects');
    redirect('/hop-one', '/hop-two', 307);
    redirect('/hop-two', `${other.url}/hop-end`, 307);
    server.requests.length = 0;
    other.requests.length = 0;
    await open.request(get(`${server.url}/hop-one`, { method: 'POST', body: 'x', ownHeaders: { 'x-own': 's3cret' } }));
    expect(server.requests.map(({ headers }) => headers['x-own'])).toEqual(['s3cret', 's3cret']);
    expect(other.requests).toMatchObject([{ method: 'POST', body: 'x' }]);
    expect(other.requests[0]?.headers['x-own']).toBeUndefined();
    other.requests.length = 0;
  });

  test('are returned as answers without an address, and after the fifth', async () => {
    server.answer('/nowhere', (_, res) => void res.writeHead(302).end());
    expect(await open.request(get(`${server.url}/nowhere`))).toMatchObject({ status: 302 });
    server.requests.length = 0;
    redirect('/round', '/round');
    expect(await open.request(get(`${server.url}/round`))).toMatchObject({ status: 302 });
    expect(server.requests).toHaveLength(6);
  });

  test('to an address that is refused do not hide that the first address was called', async () => {
    redirect('/to-private', 'http://10.0.0.1/');
    await expect(guarded.request(get(`${server.url}/to-private`))).rejects.toMatchObject({
      ...{ code: 'target_refused', isUnsent: false },
    });
    await expect(guarded.request(get('http://10.0.0.1/'))).rejects.toMatchObject({
      ...{ code: 'target_refused', isUnsent: true },
    });
  });

  test('share one time limit', async () => {
    server.answer('/slow', (_, res) => void setTimeout(() => res.writeHead(302, { location: '/slow' }).end(), 150));
    server.requests.length = 0;
    await expect(open.request(get(`${server.url}/slow`, { timeoutMs: 400 }))).rejects.toMatchObject({
      code: 'timeout',
    });
    expect(server.requests.length).toBeLessThan(4);
  });

  test('carry credentials only to addresses below their base, and again when they lead back', async () => {
    const credentials = {
      below: `${server.url}/base`,
      headers: { authorization: 'Bearer s3cret', 'x-token': 's3cret' },
    };
    redirect('/base/a', '/based');
    redirect('/based', `${other.url}/b`);
    other.answer('/b', (_, res) => void res.writeHead(302, { location: `${server.url}/base/end` }).end());
    server.requests.length = 0;
    await open.request(get(`${server.url}/base/a`, { credentials }));
    const seen = [...server.requests, ...other.requests].map(({ path, headers }) => [
      path,
      headers.authorization,
      headers['x-token'],
    ]);
    expect(seen).toEqual([
      ['/base/a', 'Bearer s3cret', 's3cret'],
      ['/based', undefined, undefined],
      ['/base/end', 'Bearer s3cret', 's3cret'],
      ['/b', undefined, undefined],
    ]);
  });
});

describe('the guard', () => {
  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1:1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://private.test/',
    'file:///etc/passwd',
    'http://user:password@public.test/',
  ])('refuses %s by literal, by DNS answer and after a redirect', async (target) => {
    verifies('action.restful.ssrf');
    await expect(guarded.request(get(target))).rejects.toMatchObject({ code: 'target_refused', retryable: false });
    redirect('/to-private', target);
    await expect(guarded.request(get(`${server.url}/to-private`))).rejects.toMatchObject({
      code: 'target_refused',
      retryable: false,
    });
  });

  test('checks each connection, so that a public name that becomes private is refused', async () => {
    verifies('action.restful.ssrf');
    // TEST-NET addresses do not count as public; this one does, and does not answer within the time limit.
    names.set('rebinding.test', ['8.8.8.8', '10.0.0.1', '::1', '169.254.169.254']);
    const url = `http://rebinding.test:${new URL(other.url).port}/`;
    await expect(guarded.request(get(url, { timeoutMs: 300 }))).rejects.toMatchObject({ retryable: true });
    for (let at = 0; at < 3; at += 1)
      await expect(guarded.request(get(url))).rejects.toMatchObject({ code: 'target_refused' });
    expect(asked.filter((name) => name === 'rebinding.test')).toHaveLength(4);
    expect(other.requests.filter(({ path }) => path === '/')).toHaveLength(0);
  });

  test('refuses a name with one private address among others', async () => {
    const mixed: LookupFunction = (_name, _options, callback) =>
      callback(null, [
        { address: '8.8.8.8', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ]);
    const client = createHttpClient({ allowPrivateTargets: false, lookup: mixed });
    await expect(client.request(get('http://mixed.test/'))).rejects.toMatchObject({ code: 'target_refused' });
    await client.close();
  });

  test.each(['127.0.0.1', '[::1]', '169.254.169.254', 'private.test'])(
    'keeps mail from the server %s',
    async (host) => {
      const smtp = createSmtpClient({ allowPrivateTargets: false, lookup });
      const server = { host, port: 25, secure: false, requireTls: false, credentials: undefined };
      const mail = {
        messageId: '<a@b>',
        from: 'a@example.com',
        to: ['b@example.com'],
        cc: [],
        bcc: [],
        subject: '',
        text: '',
        html: undefined,
      };
      await expect(smtp.send(server, mail, { timeoutMs: 3000, signal })).rejects.toMatchObject({
        code: 'target_refused',
      });
    },
  );
});

describe('isBelow', () => {
  test.each([
    ['https://a.test/api', 'https://a.test/api', true],
    ['https://a.test/api/', 'https://a.test/api/x?y', true],
    ['https://a.test', 'https://a.test/anything', true],
    ['https://a.test/api', 'https://a.test/apix', false],
    ['https://a.test/api', 'https://a.test/api/../x', false],
    ['https://a.test/api', 'https://a.test/api/%2e%2e/x', false],
    ['https://a.test/api', 'http://a.test/api', false],
    ['https://a.test/api', 'https://a.test:444/api', false],
    ['https://a.test/api', 'https://b.a.test/api', false],
    ['', 'https://a.test/api', false],
  ])('%s: %s is %s', (base, url, expected) => expect(isBelow(base, new URL(url))).toBe(expected));
});
