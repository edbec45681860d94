import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { useOwnApp } from '../support/own-app.js';
import { file, send } from '../support/uploads.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const app = useOwnApp();

interface Raw {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** A request whose answer is not decompressed. */
async function raw(path: string, headers: Record<string, string>): Promise<Raw> {
  return await new Promise((resolve, reject) => {
    const sent = request(new URL(path, app.url()), { headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }),
      );
    });
    sent.on('error', reject).end();
  });
}

const unpack = { gzip: gunzipSync, br: brotliDecompressSync };

test.each(['gzip', 'br'] as const)('large answers are compressed as %s for clients that accept it', async (coding) => {
  verifies('http.compressed');
  const plain = await raw('/openapi.json', {});
  const packed = await raw('/openapi.json', { 'accept-encoding': coding });
  expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, coding]);
  expect(packed.headers.vary).toContain('Accept-Encoding');
  expect(packed.body.length).toBeLessThan(plain.body.length / 4);
  expect(unpack[coding](packed.body).equals(plain.body)).toBe(true);
});

test('answers that must not change are sent as they are', async () => {
  verifies('http.compressed');
  const { api, projectID } = app.through(await createWorkspace(deps));
  const { body } = await send(api, `/file/${projectID}`, [file('rows.csv', 'x,y\n'.repeat(2000))]);
  const { pathname, search } = new URL(body.data[0].url);
  const url = pathname + search;
  const whole = await raw(url, { 'accept-encoding': 'gzip' });
  const part = await raw(url, { 'accept-encoding': 'gzip', range: 'bytes=0-3999' });
  expect([whole.status, whole.headers['content-encoding'], whole.body.length]).toEqual([200, undefined, 8000]);
  expect([part.status, part.headers['content-encoding'], part.body.length]).toEqual([206, undefined, 4000]);
  // Short answers would grow.
  expect((await raw('/healthz', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBeUndefined();
});

test('answers that nobody may store are not compressed, because they can contain secrets', async () => {
  verifies('http.compressed');
  const { headers } = await raw('/console/sign-in', { 'accept-encoding': 'gzip' });
  expect(headers['cache-control']).toContain('no-store');
  expect(headers['content-encoding']).toBeUndefined();
});
