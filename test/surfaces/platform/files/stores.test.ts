import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../../src/config.js';
import { createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { eventually } from '../../../support/eventually.js';
import { useOwnApp } from '../../../support/own-app.js';
import { ownProduct } from '../../../support/own-product.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import { startS3, type S3Server } from '../../../support/s3-server.js';
import { file, multipart, send, sendBig } from '../../../support/uploads.js';

const deps = useDeps();
const s3Variables: Record<string, string> = {};
const product = ownProduct(s3Variables);
const unreachable = useOwnApp({
  S3_BUCKET: 'b',
  AWS_REGION: 'r',
  AWS_ACCESS_KEY_ID: 'a',
  AWS_SECRET_ACCESS_KEY: 's',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
});
const urls: Record<string, string> = { disk: testRun().url };
let s3: S3Server;

beforeAll(async () => {
  s3 = await startS3();
  Object.assign(s3Variables, s3.env);
  urls.s3 = (await product.api()).url;
});
afterAll(() => s3.close());

function onDisk(projectID: string): string[] {
  const folder = path.join(testRun().env.DATA_DIR ?? '', 'files', projectID);
  return existsSync(folder) ? readdirSync(folder).map((name) => `${projectID}/${name}`) : [];
}

const storedIn: Record<string, (projectID: string) => string[] | Promise<string[]>> = {
  disk: onDisk,
  s3: (projectID) => s3.objects(`${projectID}/`),
};

const workspaceOn = (store: string): Promise<Workspace> => createWorkspace(deps, { url: urls[store] ?? '' });

async function uploaded(workspace: Workspace, name: string, content: string | Uint8Array): Promise<any> {
  const { status, body } = await send(workspace.api, `/file/${workspace.projectID}`, [file(name, content)]);
  expect(status).toBe(201);
  return body.data[0];
}

describe.each(['disk', 's3'])('the %s store', (store) => {
  test('returns the stored bytes by an address that needs no key', async () => {
    verifies('file.stores', 'file.signed-url');
    const workspace = await workspaceOn(store);
    const content = Buffer.from('<h1>Grüße</h1>');
    const { url, location } = await uploaded(workspace, 'Grüße \\"2026\\".html', content);
    expect(await storedIn[store]?.(workspace.projectID)).toEqual([location]);
    const answer = await fetch(url);
    expect([answer.status, Buffer.from(await answer.arrayBuffer()).equals(content)]).toEqual([200, true]);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="Grue _2026_.html"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%222026%22.html`,
    );
    // The server of a bucket decides whether a complete answer has this header.
    if (store === 'disk') expect(answer.headers.get('accept-ranges')).toBe('bytes');
  });

  test.each([
    ['bytes=0-3', 206, 'bytes 0-3/26', 'abcd'],
    ['bytes=20-', 206, 'bytes 20-25/26', 'uvwxyz'],
    ['bytes=10-99', 206, 'bytes 10-25/26', 'klmnopqrstuvwxyz'],
    ['bytes=26-30', 416, null, null],
  ])('answers the range %s', async (range, status, contentRange, content) => {
    verifies('file.stores', 'file.signed-url');
    const { url } = await uploaded(await workspaceOn(store), 'letters.txt', 'abcdefghijklmnopqrstuvwxyz');
    const answer = await fetch(url, { headers: { range } });
    expect(answer.status).toBe(status);
    if (content === null) return;
    const { headers } = answer;
    expect([headers.get('accept-ranges'), headers.get('content-range')]).toEqual(['bytes', contentRange]);
    expect(await answer.text()).toBe(content);
  });

  test('streams a large file completely', async () => {
    verifies('file.stores');
    const workspace = await workspaceOn(store);
    const sent = await sendBig(
      `${workspace.api.url}/file/${workspace.projectID}`,
      workspace.apiKey,
      30 * 1024 * 1024 + 7,
    );
    expect(sent.status).toBe(201);
    const answer = await fetch(sent.body.data[0].url);
    const hash = createHash('sha256');
    for await (const chunk of answer.body ?? []) hash.update(chunk as Uint8Array);
    expect(hash.digest('hex')).toBe(sent.sha256);
  });

  test('contains nothing of a deleted file', async () => {
    verifies('file.stores', 'file.states');
    const workspace = await workspaceOn(store);
    const { _id, url } = await uploaded(workspace, 'a.txt', 'x');
    const path = `/file/${workspace.projectID}/${_id}`;
    expect(await workspace.api.delete(path)).toMatchObject({ status: 200, body: { _id, status: 'deleted', url: '' } });
    expect(await storedIn[store]?.(workspace.projectID)).toEqual([]);
    expect((await fetch(url)).status).toBe(404);
    expect([(await workspace.api.get(path)).status, (await workspace.api.delete(path)).status]).toEqual([404, 404]);
  });

  test('contains nothing of an interrupted upload, and its record is failed', async () => {
    verifies('file.stores', 'file.states');
    const workspace = await workspaceOn(store);
    const { body, headers } = multipart([file('whole.txt', 'x'), file('half.txt', Buffer.alloc(9 * 1024 * 1024))]);
    const sending = request(`${workspace.api.url}/file/${workspace.projectID}`, {
      method: 'POST',
      headers: { ...headers, 'x-api-key': workspace.apiKey, 'content-length': String(body.length) },
    });
    sending.on('error', () => undefined);
    sending.write(body.subarray(0, body.length - 1024 * 1024));
    const records = () => deps.mongo.collections.files.find({ projectID: workspace.projectID }).toArray();
    await eventually(async () =>
      expect((await records()).map(({ status }) => status)).toEqual(['uploading', 'uploading']),
    );
    const [{ _id } = { _id: '' }] = await records();
    expect(await workspace.api.delete(`/file/${workspace.projectID}/${_id}`)).toMatchObject({
      status: 409,
      body: { error: 'conflict' },
    });
    sending.destroy();
    await eventually(async () => expect((await records()).map(({ status }) => status)).toEqual(['failed', 'failed']));
    expect(await storedIn[store]?.(workspace.projectID)).toEqual([]);
    expect(await workspace.api.get(`/file/${workspace.projectID}/${_id}`)).toMatchObject({
      status: 200,
      body: { status: 'failed', url: '' },
    });
  });
});

describe('the S3 variables', () => {
  test('store files in that bucket instead of the data folder, with presigned addresses', async () => {
    verifies('env.s3');
    const workspace = await workspaceOn('s3');
    const { url, location, projectID } = await uploaded(workspace, 'a.txt', 'x');
    expect([await s3.objects(`${projectID}/`), onDisk(projectID)]).toEqual([[location], []]);
    const address = new URL(url);
    expect(address.origin).toBe(s3.env.AWS_ENDPOINT_URL_S3);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Expires': '3600',
      'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const expired = new URL(url);
    expired.searchParams.set('X-Amz-Date', '20200101T000000Z');
    expect((await fetch(expired)).status).toBe(403);
  });

  test('are one configuration: a bucket requires its region, and a key its secret', () => {
    verifies('env.s3');
    expect(loadConfig({}).s3).toBeUndefined();
    expect(
      loadConfig({ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }).s3,
    ).toBeUndefined();
    expect(loadConfig({ S3_BUCKET: 'b', AWS_REGION: 'eu-central-1' }).s3).toEqual({
      bucket: 'b',
      region: 'eu-central-1',
      endpoint: undefined,
      credentials: undefined,
    });
    const both = {
      S3_BUCKET: 'b',
      AWS_REGION: 'r',
      AWS_ENDPOINT_URL: 'http://all:1',
      AWS_ENDPOINT_URL_S3: 'http://s3:1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 's',
      AWS_SESSION_TOKEN: 't',
    };
    expect(loadConfig(both).s3).toMatchObject({
      endpoint: 'http://s3:1',
      credentials: { accessKeyId: 'a', secretAccessKey: 's', sessionToken: 't' },
    });
    expect(() => loadConfig({ S3_BUCKET: 'b' })).toThrow(/AWS_REGION/);
    expect(() => loadConfig({ S3_BUCKET: 'b', AWS_REGION: 'r', AWS_ACCESS_KEY_ID: 'a' })).toThrow(
      /AWS_SECRET_ACCESS_KEY/,
    );
  });

  test('answer an upload 503 and keep no file if the server does not respond', async () => {
    const workspace = await createWorkspace(deps, { url: unreachable.url() });
    expect(await send(workspace.api, `/file/${workspace.projectID}`, [file('a.txt', 'x')])).toMatchObject({
      status: 503,
      body: { error: 'unavailable' },
    });
    expect(await deps.mongo.collections.files.countDocuments({ projectID: workspace.projectID, status: 'ready' })).toBe(
      0,
    );
  });
});
