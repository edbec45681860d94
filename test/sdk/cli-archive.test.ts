import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Zip, ZipDeflate, zipSync, type Zippable } from 'fflate';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { createProject, secret, secrets } from '../support/gcs-project.js';
import { useGcs } from '../support/gcs.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { create: folderOf, pulled } = useGcs();

test('a project is the same after an export and an import elsewhere', async () => {
  verifies('cli.archive');
  const { workspace } = await createProject(deps);
  const source = folderOf(workspace);
  expect(await source.gcs(['export', 'project.zip'])).toMatchObject({ code: 0, stdout: 'project.zip has 9 files.\n' });
  expect(await source.gcs(['export', 'again.zip'])).toMatchObject({ code: 0 });
  const bytes = readFileSync(source.file('project.zip'));
  expect(readFileSync(source.file('again.zip')).equals(bytes)).toBe(true);

  const other = await createWorkspace(deps);
  const target = folderOf(other);
  writeFileSync(target.file('project.zip'), bytes);
  const planned = await target.gcs(['import', 'project.zip', '--plan']);
  expect(planned).toMatchObject({ code: 2, stdout: expect.stringContaining('+ connectors/claims-api: create') });
  expect(await target.gcs(['import', 'project.zip'])).toMatchObject({ code: 3, stdout: '' });
  const env = { ...target.settings, ...secrets };
  expect(await target.gcs(['import', 'project.zip'], env)).toMatchObject({ code: 0, stderr: '' });
  expect(await target.gcs(['import', 'project.zip', '--plan'])).toMatchObject({ code: 0 });
  expect((await pulled(other)).contents()).toEqual((await pulled(workspace)).contents());

  const { data } = (await other.api.get('/agentflow')).body;
  const { _id } = data.find(({ name }: { name: string }) => name === 'Claims');
  await other.api.patch(`/agentflow/${_id}`, { description: 'Theirs' });
  const drift = await target.gcs(['import', 'project.zip']);
  expect(drift).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('gcs import --force') });
  expect(await target.gcs(['import', 'project.zip', '--force'])).toMatchObject({ code: 0 });
  expect((await other.api.get(`/agentflow/${_id}`)).body.description).toBe('');
  expect(bytes.includes(secret)).toBe(false);
});

const text = (content: string) => Buffer.from(content);
const flow = { 'agentflows/a.yaml': text('name: A\n') };
const zipped = (files: Zippable) => Buffer.from(zipSync({ ...flow, ...files }));
const unix = 3;
const link: Zippable[string] = [text('/etc/passwd'), { os: unix, attrs: 0o120777 << 16 }];

/** An archive that has a name twice. */
function twice(...names: string[]): Buffer {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((_error, chunk) => chunks.push(chunk));
  for (const name of names) {
    const entry = new ZipDeflate(name);
    zip.add(entry);
    entry.push(text('name: A\n'), true);
  }
  zip.end();
  return Buffer.concat(chunks);
}

/** States a smaller size for the largest entry than it has. */
function lying(archive: Buffer, size: number): Buffer {
  const from = Buffer.alloc(4);
  from.writeUInt32LE(size);
  for (let at = archive.indexOf(from); at >= 0; at = archive.indexOf(from, at + 4)) archive.writeUInt32LE(10, at);
  return archive;
}

describe('an archive is refused', () => {
  const mebibyte = 1024 * 1024;
  test.each<[string, () => Buffer, RegExp]>([
    [
      'with a path that leaves the folder',
      () => zipped({ 'agentflows/../../x.yaml': text('name: B') }),
      /invalid relative path/,
    ],
    ['with an absolute path', () => zipped({ '/tmp/x.yaml': text('name: B') }), /absolute path/],
    [
      'with a path of Windows',
      () => zipped({ 'agentflows\\..\\x.yaml': text('name: B') }),
      /must be a file of a project|invalid/,
    ],
    ['with another file', () => zipped({ '.gitignore': text('') }), /"\.gitignore" must be a file of a project/],
    ['with a state', () => zipped({ '.gcs/state.json': text('{}') }), /must be a file of a project/],
    ['with a hidden file', () => zipped({ 'agentflows/.x.yaml': text('name: B') }), /must be a file of a project/],
    ['with a link', () => zipped({ 'agentflows/link.md': link }), /must be a file, not a link/],
    ['with a file twice', () => twice('agentflows/a.yaml', 'agentflows/a.yaml'), /must not be there twice/],
    [
      'with a file twice on some systems',
      () => twice('agentflows/a.yaml', 'agentflows/A.yaml'),
      /must not be there twice/,
    ],
    [
      'with a large file',
      () => zipped({ 'agentflows/b.yaml': Buffer.alloc(9 * mebibyte, 32) }),
      /must have at most 8388608 bytes/,
    ],
    [
      'with many large files',
      () =>
        zipped(
          Object.fromEntries(
            Array.from({ length: 20 }, (_, at) => [`agentflows/b${at}.yaml`, Buffer.alloc(8 * mebibyte, 32)]),
          ),
        ),
      /more than 134217728 bytes when unpacked/,
    ],
    [
      'with a file that is larger than it states',
      () => lying(zipped({ 'agentflows/b.yaml': Buffer.alloc(7 * mebibyte, 32) }), 7 * mebibyte),
      /cannot|too many bytes|is not a ZIP archive that can be read/,
    ],
    [
      'with too many files',
      () => zipped(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`agentflows/b${at}.yaml`, text('')]))),
      /more than 10000 files/,
    ],
    ['that is none', () => text('PK, but not an archive'), /is not a ZIP archive/],
    ['that ends too early', () => zipped({}).subarray(0, 60), /is not a ZIP archive/],
    [
      'with bytes that are no text',
      () => zipped({ 'agentflows/b.yaml': Buffer.from([0xff, 0xfe, 0x00]) }),
      /is not a ZIP archive that can be read/,
    ],
  ])('%s', async (_what, archive, problem) => {
    verifies('cli.hostile-archive');
    const own = await createWorkspace(deps);
    const folder = folderOf(own);
    writeFileSync(folder.file('bad.zip'), archive());
    const { code, stdout, stderr } = await folder.gcs(['import', 'bad.zip']);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 3, stdout: '', lines: 2 });
    expect(stderr).toMatch(problem);
    expect((await own.api.get('/agentflow')).body.data).toEqual([]);
  });
});
