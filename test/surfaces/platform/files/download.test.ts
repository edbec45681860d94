import { describe, expect, test } from '@jest/globals';
import { createSecretBox } from '../../../../src/auth/secret-box.js';
import { newId } from '../../../../src/base/ids.js';
import { signedPath } from '../../../../src/domain/files/signed-url.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import { file, send } from '../../../support/uploads.js';

const deps = useDeps();
const now = () => Math.floor(Date.now() / 1000);

async function uploaded(name: string, content: string | Uint8Array): Promise<any> {
  const { api, projectID } = await createWorkspace(deps);
  const { body } = await send(api, `/file/${projectID}`, [file(name, content)]);
  return body.data[0];
}

test.each<[string, string | Uint8Array, string]>([
  ['a.csv', Buffer.from('\uFEFFa,b\n', 'utf16le'), 'text/csv; charset=utf-16le'],
  ['a.txt', Buffer.from('Größe für Müller', 'latin1'), 'text/plain; charset=windows-1252'],
  ['b.txt', 'Größe', 'text/plain; charset=utf-8'],
  ['long.txt', 'a'.repeat(70_000), 'text/plain'],
  ['a.bin', Buffer.from([1, 2, 3, 0, 255]), 'application/octet-stream'],
])('a download names the encoding of text if it is known: %s', async (name, content, type) => {
  verifies('file.charset');
  const { url } = await uploaded(name, content);
  expect((await fetch(url)).headers.get('content-type')).toBe(type);
});

describe('GET /files/content/{file_id}', () => {
  test('prevents a browser from displaying or running the file', async () => {
    verifies('file.signed-url');
    const { url } = await uploaded('page.html', '<html><script>alert(1)</script></html>');
    const { headers } = await fetch(url);
    expect(headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(headers.get('cache-control')).toMatch(/^private/);
  });

  test('answers HEAD without the bytes, and supports conditional requests by ETag', async () => {
    verifies('file.signed-url');
    const { url } = await uploaded('a.txt', 'abcdef');
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '6', '']);
    const etag = head.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
    const [unchanged, same, other] = await Promise.all([
      fetch(url, { headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' } }),
      fetch(url, { headers: { 'if-range': etag, range: 'bytes=0-1' } }),
      fetch(url, { headers: { 'if-range': '"another"', range: 'bytes=0-1' } }),
    ]);
    expect([unchanged.status, same.status, await same.text(), other.status, await other.text()]).toEqual([
      304,
      206,
      'ab',
      200,
      'abcdef',
    ]);
  });

  test('answers a suffix range, and reports the size for a range beyond the end', async () => {
    verifies('file.signed-url');
    const { url } = await uploaded('letters.txt', 'abcdefghijklmnopqrstuvwxyz');
    const suffix = await fetch(url, { headers: { range: 'bytes=-3' } });
    expect([suffix.status, suffix.headers.get('content-range'), await suffix.text()]).toEqual([
      206,
      'bytes 23-25/26',
      'xyz',
    ]);
    const longer = await fetch(url, { headers: { range: 'bytes=-100' } });
    expect([longer.status, longer.headers.get('content-range')]).toEqual([206, 'bytes 0-25/26']);
    const beyond = await fetch(url, { headers: { range: 'bytes=26-30' } });
    expect([beyond.status, beyond.headers.get('content-range'), beyond.headers.get('content-disposition')]).toEqual([
      416,
      'bytes */26',
      null,
    ]);
    const changed = await fetch(url, { headers: { 'if-match': '"another"' } });
    expect(changed.status).toBe(412);
    for (const refused of [beyond, changed]) {
      expect(refused.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await refused.json()).toMatchObject({ error: 'invalid_request' });
    }
  });

  test('is valid for exactly an hour', async () => {
    verifies('file.signed-url');
    const { _id, url } = await uploaded('a.txt', 'x');
    const expires = Number(new URL(url).searchParams.get('expires'));
    expect(Math.abs(expires - now() - 3600)).toBeLessThan(30);
    const over = await fetch(testRun().url + signedPath(deps.auth.box, _id, now() - 1));
    expect([over.status, await over.json()]).toMatchObject([403, { error: 'access_denied' }]);
    expect((await fetch(testRun().url + signedPath(deps.auth.box, _id, now() + 60))).status).toBe(200);
  });

  test('is read-only', async () => {
    verifies('file.signed-url');
    const { url } = await uploaded('a.txt', 'x');
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await fetch(url, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET']);
    }
    expect((await fetch(url)).status).toBe(200);
  });

  const changes: [string, (url: URL, other: any) => void][] = [
    ['a later expiry', (url) => url.searchParams.set('expires', String(now() + 99_999))],
    [
      'the same expiry in another notation',
      (url) => url.searchParams.set('expires', `0${url.searchParams.get('expires')}`),
    ],
    ['an expiry that is not a number', (url) => url.searchParams.set('expires', 'Infinity')],
    ['no expiry', (url) => url.searchParams.delete('expires')],
    ['no signature', (url) => url.searchParams.delete('signature')],
    ['an empty signature', (url) => url.searchParams.set('signature', '')],
    [
      'a signature with another end',
      (url) => url.searchParams.set('signature', `${url.searchParams.get('signature')?.slice(0, -2)}AA`),
    ],
    [
      'a signature with appended characters',
      (url) => url.searchParams.set('signature', `${url.searchParams.get('signature')}=`),
    ],
    [
      'a signature that is cut',
      (url) => url.searchParams.set('signature', url.searchParams.get('signature')?.slice(0, 20) ?? ''),
    ],
    ['another file', (url, other) => (url.pathname = `/files/content/${other._id}`)],
    ['an unknown file', (url) => (url.pathname = `/files/content/${newId()}`)],
    ['a path out of the folder', (url) => (url.pathname = '/files/content/..%2f..%2fsecrets.key')],
    ['a path with a drive of its own', (url) => (url.pathname = '/files/content/%00')],
    [
      'the signature of another file',
      (url, other) => url.searchParams.set('signature', new URL(other.url).searchParams.get('signature') ?? ''),
    ],
    ['two signatures', (url) => url.searchParams.append('signature', url.searchParams.get('signature') ?? '')],
  ];
  test.each(changes)('returns nothing for %s', async (_, change) => {
    verifies('file.tricks');
    const [one, other] = await Promise.all([uploaded('a.txt', 'the secret'), uploaded('b.txt', 'the secret')]);
    const url = new URL(one.url);
    change(url, other);
    const answer = await fetch(url);
    const text = await answer.text();
    expect([400, 403, 404]).toContain(answer.status);
    expect(text).not.toContain('the secret');
    expect(answer.headers.get('content-disposition')).toBeNull();
  });

  test('returns nothing for an address signed with another key', async () => {
    verifies('file.tricks');
    const { _id } = await uploaded('a.txt', 'x');
    const stranger = createSecretBox({ secretsKey: 'k'.repeat(40), dataDir: '', environment: 'test' });
    expect((await fetch(testRun().url + signedPath(stranger, _id, now() + 60))).status).toBe(403);
  });

  test('remains valid when the key is replaced and the old key is still configured', () => {
    verifies('file.signed-url');
    const [before, after] = ['b'.repeat(40), 'a'.repeat(40)];
    const options = { dataDir: '', environment: 'test' as const };
    const signature = createSecretBox({ ...options, secretsKey: before }).sign('text', 'purpose');
    const both = createSecretBox({ ...options, secretsKey: `${after},${before}` });
    expect(both.isSigned('text', signature, 'purpose')).toBe(true);
    expect(both.isSigned('text', signature, 'another')).toBe(false);
    expect(createSecretBox({ ...options, secretsKey: after }).isSigned('text', signature, 'purpose')).toBe(false);
  });
});
