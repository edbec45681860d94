import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { safeFileName } from '../../../../src/domain/files/file-name.js';
import { newId } from '../../../../src/base/ids.js';
import { createKey, createWorkspace, useDeps, type Workspace } from '../../../support/fixture.js';
import { apiClient } from '../../../support/client.js';
import { refusal } from '../../../support/refusal.js';
import { testRun } from '../../../support/run.js';
import { verifies } from '../../../support/verifies.js';
import { file, multipart, send, sendBig } from '../../../support/uploads.js';

const deps = useDeps();
const hundredMiB = 100 * 1024 * 1024;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function storedIn({ projectID }: Workspace): string[] {
  const folder = path.join(testRun().env.DATA_DIR ?? '', 'files', projectID);
  return existsSync(folder) ? readdirSync(folder) : [];
}

const recordsOf = ({ projectID }: Workspace) => deps.mongo.collections.files.find({ projectID }).toArray();

async function connectorOf({ api }: Workspace): Promise<string> {
  const made = await api.post('/actions/restful/config', { name: 'Storage' });
  return made.body._id as string;
}

describe('POST /file/{projectID}', () => {
  test('accepts several files with tags and a connector, and returns their records in order', async () => {
    verifies('platform.files.upload', 'resource.file');
    const workspace = await createWorkspace(deps);
    const { api, projectID } = workspace;
    const connector_id = await connectorOf(workspace);
    const begun = Date.now();
    const parts = [
      { name: 'tags', content: 'alpha' },
      file('a.txt', 'one'),
      { name: 'connector_id', content: connector_id },
      file('Übersicht.md', '# Two'),
      { name: 'tags', content: '["beta","alpha"]' },
    ];
    const { status, body } = await send(api, `/file/${projectID}`, parts);
    expect(status).toBe(201);
    const shared = {
      projectID,
      container_name: projectID,
      tags: ['alpha', 'beta'],
      connector_id,
      source_type: 'STORAGE',
      status: 'ready',
    };
    expect(body.data).toMatchObject([
      { ...shared, name: 'a.txt', mime_type: 'text/plain', size_in_kb: 0.003 },
      { ...shared, name: 'Übersicht.md', mime_type: 'text/markdown', size_in_kb: 0.005 },
    ]);
    for (const each of body.data) {
      expect(Object.keys(each).sort()).toEqual(
        [
          '_id',
          'connector_id',
          'container_name',
          'location',
          'mime_type',
          'name',
          'projectID',
          'size_in_kb',
          'source_type',
          'status',
          'tags',
          'uploaded_on',
          'url',
        ].sort(),
      );
      expect(Number.isInteger(each.uploaded_on) && each.uploaded_on >= begun && each.uploaded_on <= Date.now()).toBe(
        true,
      );
      expect(each.location).toBe(`${projectID}/${each._id}`);
      expect(each.url).toMatch(/^http/);
    }
    expect(storedIn(workspace).sort()).toEqual(body.data.map(({ _id }: { _id: string }) => _id).sort());
  });

  test.each([
    ['a picture called a text', 'notes.txt', 'text/plain', png, 'image/png'],
    ['HTML called CSV', 'table.csv', 'text/csv', '<!DOCTYPE html><script>alert(1)</script>', 'text/html'],
    ['text called a picture', 'cat.png', 'image/png', 'meow', 'text/plain'],
    ['CSV', 'table.csv', 'application/x-strange', 'a,b\n1,2\n', 'text/csv'],
    ['JSON without an extension', 'data', 'text/plain', '{"a":1}', 'application/json'],
    ['text called JSON', 'data.json', 'application/json', 'a: 1', 'text/plain'],
    ['PDF called HTML', 'page.html', 'text/html', '%PDF-1.4\n%âãÏÓ\n', 'application/pdf'],
    ['bytes of an unknown format', 'x.txt', 'text/plain', Buffer.from([1, 2, 3, 0, 255]), 'application/octet-stream'],
    ['HTML behind comments', 'note.txt', 'text/plain', '<!-- a --> <!-- <p> -->\n<html>', 'text/html'],
    ['text behind comments without end', 'note.txt', 'text/plain', `${'<!---->'.repeat(5000)}x`, 'text/plain'],
    ['nothing at all', 'empty.csv', 'text/csv', '', 'text/csv'],
    ['text in UTF-16', 'note.txt', 'text/plain', Buffer.from('\uFEFFÜbersicht', 'utf16le'), 'text/plain'],
    ['CSV in UTF-16', 'a.csv', 'text/csv', Buffer.from('\uFEFFa,b\n1,2\n', 'utf16le').swap16(), 'text/csv'],
    ['MPEG audio that begins like UTF-16', 'a.mp1', 'audio/mpeg', Buffer.from('fffe44c000000000', 'hex'), 'audio/mpeg'],
    ['SVG', 'a.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    [
      'SVG with a declaration called HTML',
      'a.html',
      'text/html',
      '<?xml version="1.0"?>\n<!-- a --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg/>',
      'image/svg+xml',
    ],
    ['XML that is not SVG', 'a.xml', 'text/xml', '<?xml version="1.0"?><a><svg/></a>', 'application/xml'],
  ])('detects the type from the bytes: %s', async (_, name, type, content, expected) => {
    verifies('file.mime-type');
    const { api, projectID } = await createWorkspace(deps);
    const { status, body } = await send(api, `/file/${projectID}`, [file(name, content, type)]);
    expect([status, body.data?.[0].mime_type]).toEqual([201, expected]);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['..\\\\..\\\\windows\\\\system.ini', 'system.ini'],
    ['/', 'unnamed'],
    ['..', 'unnamed'],
    ['a\u202Etxt.exe', 'atxt.exe'],
    ['nul\u0000byte\u0007.txt', 'nulbyte.txt'],
    ['日本語 документ.txt', '日本語 документ.txt'],
    [`${'ä'.repeat(400)}.pdf`, `${'ä'.repeat(125)}.pdf`],
    ['name. .', 'name'],
    ['a%22b%22%20.txt', 'a"b"%20.txt'],
    ['two%0D%0Alines.txt', 'twolines.txt'],
  ])('names %j as %j and stores it under its own id', async (given, name) => {
    verifies('file.tricks');
    const workspace = await createWorkspace(deps);
    const { status, body } = await send(workspace.api, `/file/${workspace.projectID}`, [file(given, 'x')]);
    expect([status, body.data?.[0].name]).toEqual([201, name]);
    expect(storedIn(workspace)).toEqual([body.data[0]._id]);
  });

  test('parses names with long rows of dots and spaces quickly', () => {
    verifies('file.tricks');
    const begun = process.cpuUsage();
    for (let at = 0; at < 100; at += 1) safeFileName(`${'. '.repeat(8000)}x`);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
  });

  test('accepts a hundred files in one upload', async () => {
    const workspace = await createWorkspace(deps);
    const { status, body } = await send(
      workspace.api,
      `/file/${workspace.projectID}`,
      Array.from({ length: 100 }, (_, at) => file(`${at}.txt`, 'x')),
    );
    expect([status, body.data?.length]).toEqual([201, 100]);
    expect(await deps.customers.storageUsed(workspace.organizationId)).toBe(100);
  });

  test.each([
    ['no file', [{ name: 'tags', content: 'a' }], 400, 'invalid_request'],
    ['an unknown field', [file('a.txt', 'x'), { name: 'colour', content: 'red' }], 400, 'invalid_request'],
    [
      'another project in a field',
      [file('a.txt', 'x'), { name: 'projectID', content: newId() }],
      400,
      'invalid_request',
    ],
    ['an unknown connector', [file('a.txt', 'x'), { name: 'connector_id', content: newId() }], 404, 'not_found'],
    [
      'a tag that is too long',
      [file('a.txt', 'x'), { name: 'tags', content: 'a' }, { name: 'tags', content: 'a'.repeat(201) }],
      400,
      'invalid_request',
      'tags.1: must have at most 200 characters',
    ],
    ['tags that are not texts', [file('a.txt', 'x'), { name: 'tags', content: '[{"$gt":1}]' }], 400, 'invalid_request'],
    [
      'a field that is too large',
      [file('a.txt', 'x'), { name: 'tags', content: 'a'.repeat(70_000) }],
      400,
      'invalid_request',
    ],
    ['too many files', Array.from({ length: 101 }, (_, at) => file(`${at}.txt`, 'x')), 400, 'invalid_request'],
  ])('refuses %s and leaves nothing', async (_, parts, status, error, description = '') => {
    const workspace = await createWorkspace(deps);
    const answer = await send(workspace.api, `/file/${workspace.projectID}`, parts);
    expect(answer).toMatchObject(refusal(status, error, description));
    expect([await recordsOf(workspace), storedIn(workspace)]).toEqual([[], []]);
  });

  test.each([
    ['JSON', 'application/json', '{"a":1}'],
    ['no boundary', 'multipart/form-data', 'x'],
    ['a body that is not multipart', 'multipart/form-data; boundary=b', 'not multipart'],
    ['an empty body', 'multipart/form-data; boundary=b', ''],
    [
      'a part that has no end',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
    ],
    [
      'a part whose head has no end',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"',
    ],
    ['only the end', 'multipart/form-data; boundary=b', '--b--\r\n'],
    [
      'thousands of parts without a name next to a file',
      'multipart/form-data; boundary=b',
      `${'--b\r\n\r\nx\r\n'.repeat(3000)}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n--b--\r\n`,
    ],
  ])('refuses %s', async (_, type, content) => {
    const workspace = await createWorkspace(deps);
    const answer = await workspace.api.post(`/file/${workspace.projectID}`, content, { 'content-type': type });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect([await recordsOf(workspace), storedIn(workspace)]).toEqual([[], []]);
  });

  test('is limited to the project and the grants of the key', async () => {
    const [mine, theirs] = await Promise.all([createWorkspace(deps), createWorkspace(deps)]);
    expect(await send(mine.api, `/file/${theirs.projectID}`, [file('a.txt', 'x')])).toMatchObject({ status: 403 });
    expect(
      await send(mine.api, `/file/${mine.projectID}?projectID=${theirs.projectID}`, [file('a.txt', 'x')]),
    ).toMatchObject({ status: 400 });
    const foreign = await connectorOf(theirs);
    expect(
      await send(mine.api, `/file/${mine.projectID}`, [file('a.txt', 'x'), { name: 'connector_id', content: foreign }]),
    ).toMatchObject({ status: 404 });
    const reader = apiClient(testRun().url, {
      'x-api-key': await createKey(deps, mine, { grants: ['svc:orchestrate.read'] }),
    });
    expect(await send(reader, `/file/${mine.projectID}`, [file('a.txt', 'x')])).toMatchObject({
      status: 403,
      body: { error: 'access_denied' },
    });
    expect(await recordsOf(mine)).toEqual([]);
  });

  test('accepts 100 MiB and refuses more, with and without Content-Length, and stores nothing', async () => {
    verifies('platform.errors.upload-too-large');
    const workspace = await createWorkspace(deps);
    const url = `${testRun().url}/file/${workspace.projectID}`;
    expect(await sendBig(url, workspace.apiKey, hundredMiB + 1)).toMatchObject({
      status: 413,
      body: { error: 'payload_too_large' },
    });
    expect([await recordsOf(workspace), storedIn(workspace)]).toEqual([[], []]);
    const { headers } = multipart([]);
    const announced = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'x-api-key': workspace.apiKey, 'content-type': headers['content-type'] ?? '' },
      body: new Uint8Array(102 * 1024 * 1024),
    });
    expect(announced.status).toBe(413);
    const whole = await sendBig(url, workspace.apiKey, hundredMiB);
    expect(whole).toMatchObject({ status: 201, body: { data: [{ size_in_kb: 102_400 }] } });
    expect((await recordsOf(workspace)).map(({ sha256 }) => sha256)).toEqual([whole.sha256]);
  });

  test('returns the first files for the same key and content, and answers 409 for other content', async () => {
    const workspace = await createWorkspace(deps);
    const key = { 'idempotency-key': newId() };
    const path = `/file/${workspace.projectID}`;
    const parts = [file('a.txt', 'one'), file('b.txt', 'two')];
    const [one, other] = await Promise.all([
      send(workspace.api, path, parts, key),
      send(workspace.api, path, parts, key),
    ]);
    const again = await send(workspace.api, path, parts, key);
    const ids = (answer: { body: any }) => answer.body.data.map(({ _id }: { _id: string }) => _id);
    expect([one.status, other.status, again.status]).toEqual([201, 201, 201]);
    expect([ids(other), ids(again)]).toEqual([ids(one), ids(one)]);
    expect(await send(workspace.api, path, [file('a.txt', 'one'), file('b.txt', 'TWO')], key)).toMatchObject({
      status: 409,
      body: { error: 'conflict' },
    });
    expect((await recordsOf(workspace)).map(({ _id }) => _id).sort()).toEqual(ids(one).sort());
    expect(storedIn(workspace).sort()).toEqual(ids(one).sort());
  });
});
