import { afterAll, describe, expect, test } from '@jest/globals';
import type { LookupFunction } from 'node:net';
import { createHttpClient } from '../../src/outbound/http-client.js';
import { guardedLookup, isPublicAddress } from '../../src/outbound/target-guard.js';

const signal = new AbortController().signal;
const client = createHttpClient({ allowPrivateTargets: false, ownOrigin: 'http://127.0.0.1:1' });
const call = (url: string) => client.request({ method: 'GET', url, timeoutMs: 2000, signal });

afterAll(() => client.close());

/** Our own name server: every name has these addresses. */
function answering(...addresses: string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_hostname, options, callback) =>
    setImmediate(() => {
      if (options.all) callback(null, entries);
      else callback(null, entries[0]?.address ?? '', entries[0]?.family ?? 0);
    });
}

describe('isPublicAddress', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '172.15.0.1',
    '172.32.0.1',
    '2606:4700:4700::1111',
    '::ffff:8.8.8.8',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    ...[
      '127.0.0.1',
      '127.255.255.254',
      '0.0.0.0',
      '0.1.2.3',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
    ],
    ...['169.254.169.254', '100.64.0.1', '100.100.100.200', '192.0.0.192', '192.0.2.1', '198.18.0.1', '203.0.113.5'],
    ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
    ...[
      '::',
      '::1',
      '::127.0.0.1',
      '::ffff:127.0.0.1',
      '::ffff:169.254.169.254',
      'fe80::1',
      'fc00::1',
      'fd00:ec2::254',
      'ff02::1',
    ],
    ...[
      '64:ff9b::7f00:1',
      '64:ff9b:1::a00:1',
      '2002:7f00:1::',
      '2001:0:4136:e378::1',
      '2001:db8::1',
      'fec0::1',
      '4000::1',
      '',
    ],
    ...['localhost', 'not an address'],
  ])('refuses %j', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('a client that guards its targets', () => {
  test.each([
    ...[
      'http://127.0.0.1/',
      'http://localhost/',
      'http://localhost:9200/',
      'http://0.0.0.0/',
      'http://0/',
      'http://127.1/',
    ],
    ...['http://2130706433/', 'http://0x7f000001/', 'http://0x7f.0.0.1/', 'http://017700000001/', 'http://0177.0.0.1/'],
    ...[
      'http://１２７.0.0.1/',
      'http://127.0.0.1./',
      'http://169.254.169.254/latest/meta-data/',
      'http://2852039166/',
      'http://10.0.0.1/',
    ],
    ...[
      'http://192.168.0.1:8080/',
      'http://[::1]/',
      'http://[::]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:7f00:1]/',
    ],
    ...[
      'http://[fd00:ec2::254]/',
      'http://[fe80::1]/',
      'http://[64:ff9b::7f00:1]/',
      'http://127.0.0.1:2/',
      'https://127.0.0.1:1/',
    ],
    ...[
      'http://user:secret@8.8.8.8/',
      'ftp://8.8.8.8/',
      'file:///etc/passwd',
      'data:,x',
      'gopher://8.8.8.8/',
      'no url',
      '',
    ],
  ])('refuses %j', async (url) => {
    await expect(call(url)).rejects.toMatchObject({ code: 'target_refused', retryable: false });
  });

  test('can call its own private origin', async () => {
    await expect(call('http://127.0.0.1:1/healthz')).rejects.toMatchObject({ code: 'unreachable' });
  });

  test.each([[['127.0.0.1']], [['::1']], [['8.8.8.8', '10.0.0.1']], [['::ffff:169.254.169.254']]])(
    'refuses a name that resolves to %j',
    async (addresses) => {
      const named = createHttpClient({ allowPrivateTargets: false, lookup: answering(...addresses) });
      const request = { method: 'GET', url: 'http://rebinding.example/', timeoutMs: 2000, signal } as const;
      await expect(named.request(request)).rejects.toMatchObject({ code: 'target_refused' });
      await named.close();
    },
  );
});

describe('guardedLookup', () => {
  test.each([{ all: true }, { all: false }])('passes public addresses on unchanged with %j', async (options) => {
    const found = await new Promise((resolve) => {
      guardedLookup(answering('8.8.8.8'))('public.example', options, (error, address) => resolve(error ?? address));
    });
    expect(found).toEqual(options.all ? [{ address: '8.8.8.8', family: 4 }] : '8.8.8.8');
  });

  test("passes the resolver's error on", async () => {
    const failing: LookupFunction = (_hostname, _options, callback) =>
      callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), '');
    const error = await new Promise((resolve) => {
      guardedLookup(failing)('missing.example', { all: true }, resolve);
    });
    expect(error).toMatchObject({ code: 'ENOTFOUND' });
  });
});
