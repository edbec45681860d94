import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../src/config.js';
import { createWorkspace, useDeps, type Workspace } from '../../support/fixture.js';
import { eventually } from '../../support/eventually.js';
import { ownProduct } from '../../support/own-product.js';
import { testRun } from '../../support/run.js';
import { verifies } from '../../support/verifies.js';
import { startS3, type S3Server } from '../../support/s3-server.js';
import { file, multipart, send, sendBig } from '../../support/uploads.js';

const deps = useDeps();
const s3Variables: Record<string, string> = {};
const products = { disk: ownProduct(), s3: ownProduct(s3Variables) };
const unreachable = ownProduct({ S3_BUCKET: 'b', AWS_REGION: 'r', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's', AWS_ENDPOINT_URL: 'http://127.0.0.1:9' });
const urls: Record<string, string> = {};
let s3: S3Server;

beforeAll(async () => {
  s3 = await startS3();
  Object.assign(s3Variables, s3.env);
  const [disk, bucket] = await Promise.all([products.disk.api(), products.s3.api()]);
  Object.assign(urls, { disk: disk.url, s3: bucket.url });
});
afterAll(() => s3.close());

function onDisk(projectID: string): string[] {
  const folder = path.join(testRun().env.DATA_DIR ?? '', 'files', projectID);
  return existsSync(folder) ? readdirSync(folder).map((name) => `${projectID}/${name}`) : [];
}

const storedIn: Record<string, (projectID: string) => string[]> = {
  disk: onDisk,
  s3: (projectID) => s3.objects().filter((name) => name.startsWith(`${projectID}/`)),
};

const workspaceOn = (store: string): Promise<Workspace> => createWorkspace(deps, { url: urls[store] ?? '' });

async function uploaded(workspace: Workspace, name: string, content: string | Uint8Array): Promise<any> {
  const { status, body } = await send(workspace.api, `/file/${workspace.projectID}`, [file(name, content)]);
  expect(status).toBe(201);
  return body.data[0];
}

describe.each(['disk', 's3'])('the %s store', (store) => {
  test('gives back what it was given, by an address that needs no key', async () => {
    verifies('file.stores', 'file.signed-url');
    const workspace = await workspaceOn(store);
    const content = Buffer.from('<h1>Grüße</h1>');
    const { url, location } = await uploaded(workspace, 'Grüße \\"2026\\".html', content);
    expect(storedIn[store]?.(workspace.projectID)).toEqual([location]);
    const answer = await fetch(url);
    expect([answer.status, Buffer.from(await answer.arrayBuffer()).equals(content)]).toEqual([200, true]);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="Grue _2026_.html"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20%222026%22.html`);
    expect(answer.headers.get('accept-ranges')).toBe('bytes');
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
    expect([answer.headers.get('content-range'), await answer.text()]).toEqual([contentRange, content]);
  });

  test('streams a large file through whole', async () => {
    verifies('file.stores');
    const workspace = await workspaceOn(store);
    const sent = await sendBig(`${workspace.api.url}/file/${workspace.projectID}`, workspace.apiKey, 30 * 1024 * 1024 + 7);
    expect(sent.status).toBe(201);
    const answer = await fetch(sent.body.data[0].url);
    const hash = createHash('sha256');
    for await (const chunk of answer.body ?? []) hash.update(chunk as Uint8Array);
    expect(hash.digest('hex')).toBe(sent.sha256);
  });

  test('holds nothing of a file that is deleted', async () => {
    verifies('file.stores', 'file.states');
    const workspace = await workspaceOn(store);
    const { _id, url } = await uploaded(workspace, 'a.txt', 'x');
    const path = `/file/${workspace.projectID}/${_id}`;
    expect(await workspace.api.delete(path)).toMatchObject({ status: 200, body: { _id, status: 'deleted', url: '' } });
    expect(storedIn[store]?.(workspace.projectID)).toEqual([]);
    expect((await fetch(url)).status).toBe(404);
    expect([(await workspace.api.get(path)).status, (await workspace.api.delete(path)).status]).toEqual([404, 404]);
  });

  test('holds nothing of an upload that breaks off, and its record says failed', async () => {
    verifies('file.stores', 'file.states');
    const workspace = await workspaceOn(store);
    const { body, headers } = multipart([file('whole.txt', 'x'), file('half.txt', Buffer.alloc(9 * 1024 * 1024))]);
    const sending = request(`${workspace.api.url}/file/${workspace.projectID}`, { method: 'POST', headers: { ...headers, 'x-api-key': workspace.apiKey, 'content-length': String(body.length) } });
    sending.on('error', () => undefined);
    sending.write(body.subarray(0, body.length - 1024 * 1024));
    const records = () => deps.mongo.collections.files.find({ projectID: workspace.projectID }).toArray();
    await eventually(async () => expect((await records()).map(({ status }) => status)).toEqual(['uploading', 'uploading']));
    const [{ _id } = { _id: '' }] = await records();
    expect(await workspace.api.delete(`/file/${workspace.projectID}/${_id}`)).toMatchObject({ status: 409, body: { error: 'conflict' } });
    sending.destroy();
    await eventually(async () => expect((await records()).map(({ status }) => status)).toEqual(['failed', 'failed']));
    expect(storedIn[store]?.(workspace.projectID)).toEqual([]);
    expect(await workspace.api.get(`/file/${workspace.projectID}/${_id}`)).toMatchObject({ status: 200, body: { status: 'failed', url: '' } });
  });
});

describe('the S3 variables', () => {
  test('put files into that bucket in place of the data folder, read by presigned addresses', async () => {
    verifies('env.s3');
    const workspace = await workspaceOn('s3');
    const { url, location, projectID } = await uploaded(workspace, 'a.txt', 'x');
    expect([s3.objects().includes(location), onDisk(projectID)]).toEqual([true, []]);
    const address = new URL(url);
    expect(address.origin).toBe(s3.env.AWS_ENDPOINT_URL_S3);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({ 'X-Amz-Algorithm': 'AWS4-HMAC-SHA256', 'X-Amz-Expires': '3600', 'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/) });
    const expired = new URL(url);
    expired.searchParams.set('X-Amz-Date', '20200101T000000Z');
    expect((await fetch(expired)).status).toBe(403);
  });

  test('are one configuration: a bucket needs its region, and a key its secret', () => {
    verifies('env.s3');
    expect(loadConfig({}).s3).toBeUndefined();
    expect(loadConfig({ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }).s3).toBeUndefined();
    expect(loadConfig({ S3_BUCKET: 'b', AWS_REGION: 'eu-central-1' }).s3).toEqual({ bucket: 'b', region: 'eu-central-1', endpoint: undefined, credentials: undefined });
    const both = { S3_BUCKET: 'b', AWS_REGION: 'r', AWS_ENDPOINT_URL: 'http://all:1', AWS_ENDPOINT_URL_S3: 'http://s3:1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' };
    expect(loadConfig(both).s3).toMatchObject({ endpoint: 'http://s3:1', credentials: { accessKeyId: 'a', secretAccessKey: 's', sessionToken: 't' } });
    expect(() => loadConfig({ S3_BUCKET: 'b' })).toThrow(/AWS_REGION/);
    expect(() => loadConfig({ S3_BUCKET: 'b', AWS_REGION: 'r', AWS_ACCESS_KEY_ID: 'a' })).toThrow(/AWS_SECRET_ACCESS_KEY/);
  });

  test('with a server that does not answer, an upload is 503 and keeps no file', async () => {
    const workspace = await createWorkspace(deps, { url: (await unreachable.api()).url });
    expect(await send(workspace.api, `/file/${workspace.projectID}`, [file('a.txt', 'x')])).toMatchObject({ status: 503, body: { error: 'unavailable' } });
    expect(await deps.mongo.collections.files.countDocuments({ projectID: workspace.projectID, status: 'ready' })).toBe(0);
  });
});
