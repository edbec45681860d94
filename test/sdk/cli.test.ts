import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sha256Hex } from '../../src/base/hash.js';
import { createWorkspace, useDeps, type Workspace } from '../support/fixture.js';
import { useGcs } from '../support/gcs.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { create: folderOf, pulled } = useGcs();

const greeter = {
  name: 'Greeter',
  description: 'Greets: people # kindly',
  agents: [{ _id: 'greeter', title: 'Greeter', prompt: { template: 'Greet {{ goal }}\n\nyes: "no"\n' } }],
};

describe('files of agentflows', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = await createWorkspace(deps);
    await workspace.api.post('/agentflow', greeter);
  });

  test('are the same after each pull, and a push of them changes nothing', async () => {
    verifies('cli.round-trip');
    const folder = await pulled(workspace);
    const before = folder.contents('agentflows');
    expect(Object.keys(before)).toEqual(['greeter.yaml', 'greeter/greeter.md']);
    expect(before['greeter/greeter.md']).toBe(`${greeter.agents[0]?.prompt.template}\n`);
    expect(await folder.gcs(['plan'])).toMatchObject({ code: 0, stdout: 'Nothing differs.\n' });
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0, stdout: 'Nothing to push.\n' });
    expect(await folder.gcs(['pull'])).toMatchObject({ code: 0 });
    expect(folder.contents('agentflows')).toEqual(before);
    expect((await pulled(workspace)).contents('agentflows')).toEqual(before);
    const stored = (await workspace.api.get('/agentflow')).body.data;
    expect(stored).toHaveLength(1);
    expect(JSON.parse(folder.read('.gcs/agentflow.schema.json'))).toMatchObject({ properties: { name: {} } });
  });

  test('make new agentflows and change them, as a draft', async () => {
    verifies('cli.push');
    const own = await createWorkspace(deps);
    const folder = await pulled(own);
    folder.write(
      'agentflows/hello.yaml',
      'name: Hello\nagents:\n  - { _id: a, title: A, prompt: { template: "Hi" } }\n',
    );
    expect(await folder.gcs(['plan'])).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('+ agentflows/hello: create'),
    });
    expect(await folder.gcs(['push'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('+ agentflows/hello'),
    });
    const [{ _id }] = (await own.api.get('/agentflow')).body.data;
    folder.write('agentflows/hello.yaml', folder.read('agentflows/hello.yaml').replace('Hello', 'Hello you'));
    expect(await folder.gcs(['plan', '--json'])).toMatchObject({
      code: 2,
      stdout: `{"changes":[{"kind":"agentflows","file":"hello","name":"Hello you","change":"update","fields":["name"],"id":"${_id}"}]}\n`,
    });
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0 });
    expect((await own.api.get(`/agentflow/${_id}`)).body).toMatchObject({ name: 'Hello you', initialAgent: 'a' });
    expect((await own.api.get(`/agentflow/${_id}/versions`)).body.data).toEqual([]);
    expect(await folder.gcs(['plan'])).toMatchObject({ code: 0 });
  });

  test('do not overwrite what somebody else has changed, unless forced', async () => {
    verifies('cli.drift');
    const own = await createWorkspace(deps);
    const { _id } = (await own.api.post('/agentflow', greeter)).body;
    const folder = await pulled(own);
    await own.api.patch(`/agentflow/${_id}`, { description: 'From the console' });
    folder.write(
      'agentflows/greeter.yaml',
      folder.read('agentflows/greeter.yaml').replace(/description: .*/, 'description: Mine'),
    );
    const drift = {
      code: 4,
      stderr: expect.stringMatching(/^gcs: agentflows\/greeter: .*changed in the project.*\n$/),
    };
    expect(await folder.gcs(['push'])).toMatchObject(drift);
    expect(await folder.gcs(['pull'])).toMatchObject({ code: 4 });
    expect(folder.read('agentflows/greeter.yaml')).toContain('Mine');
    expect((await own.api.get(`/agentflow/${_id}`)).body.description).toBe('From the console');
    expect(await folder.gcs(['push', '--force'])).toMatchObject({ code: 0 });
    expect((await own.api.get(`/agentflow/${_id}`)).body.description).toBe('Mine');
    await own.api.patch(`/agentflow/${_id}`, { description: 'Again' });
    expect(await folder.gcs(['pull'])).toMatchObject({ code: 0 });
    expect(folder.read('agentflows/greeter.yaml')).toContain('Again');
  });

  test('delete agentflows only with --prune, and only those that were in this folder', async () => {
    verifies('cli.prune');
    const own = await createWorkspace(deps);
    const { _id } = (await own.api.post('/agentflow', greeter)).body;
    const folder = await pulled(own);
    const other = (await own.api.post('/agentflow', { ...greeter, name: 'Made in the console' })).body;
    rmSync(folder.file('agentflows/greeter.yaml'));
    const { code, stdout } = await folder.gcs(['plan']);
    expect([code, stdout]).toEqual([2, expect.stringContaining('- agentflows/greeter: delete')]);
    expect(stdout).toContain('? agentflows/made-in-the-console: only there');
    expect(await folder.gcs(['push'])).toMatchObject({
      code: 0,
      stdout: 'Nothing to push.\nWithout a file, but kept: agentflows/greeter. `gcs push --prune` deletes them.\n',
    });
    expect(await own.api.get(`/agentflow/${_id}`)).toMatchObject({ status: 200 });
    expect(await folder.gcs(['push', '--prune'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('- agentflows/greeter'),
    });
    expect(await own.api.get(`/agentflow/${_id}`)).toMatchObject({ status: 404 });
    expect(await own.api.get(`/agentflow/${other._id}`)).toMatchObject({ status: 200 });
  });

  test('keep a prompt that several agentflows use when one of them is deleted', async () => {
    verifies('cli.prune');
    const own = await createWorkspace(deps);
    const folder = await pulled(own);
    folder.write('agentflows/shared.md', 'Greet {{ goal }}\n');
    for (const name of ['one', 'two'])
      folder.write(
        `agentflows/${name}.yaml`,
        `name: ${name}\nagents: [{ _id: a, title: A, prompt: { file: shared.md } }]\n`,
      );
    expect(await folder.gcs(['push'])).toMatchObject({ code: 0 });
    const { data } = (await own.api.get('/agentflow')).body;
    const one = data.find(({ name }: { name: string }) => name === 'one');
    expect(await own.api.delete(`/agentflow/${one._id}`)).toMatchObject({ status: 200 });
    expect(await folder.gcs(['pull'])).toMatchObject({ code: 0 });
    expect(existsSync(folder.file('agentflows/one.yaml'))).toBe(false);
    expect(await folder.gcs(['plan'])).toMatchObject({ code: 0, stdout: 'Nothing differs.\n' });
  });

  test('have safe names, whatever the names of the agentflows are', async () => {
    verifies('cli.names');
    const own = await createWorkspace(deps);
    const names = ['../x', 'CON', 'ä'.repeat(200), 'Twin', 'twin', '日本', 'constructor'];
    for (const name of names) expect(await own.api.post('/agentflow', { name })).toMatchObject({ status: 201 });
    const folder = await pulled(own);
    expect(Object.keys(folder.contents('agentflows'))).toEqual([
      `${'a'.repeat(60)}.yaml`,
      'constructor.yaml',
      'flow-con.yaml',
      'flow.yaml',
      'twin-2.yaml',
      'twin.yaml',
      'x.yaml',
    ]);
    expect(readdirSync(path.dirname(folder.root))).not.toContain('x.yaml');
    expect(await folder.gcs(['plan'])).toMatchObject({ code: 0 });
  });

  test.each([
    [
      'a prompt outside',
      'name: A\nagents: [{ _id: a, title: A, prompt: { file: ../README.md } }]',
      /must be a Markdown file in the folder agentflows/,
    ],
    ['a link outside', 'name: A\nagents: [{ _id: a, title: A, prompt: { file: link.md } }]', /outside of this folder/],
    ['no YAML', 'name: [', /bad\.yaml: is not YAML/],
    ['two documents', 'name: A\n---\nname: B\n', /bad\.yaml: must be one YAML document/],
    ['no object', '- a', /must be an object/],
    ['no name', 'agents: []', /name: must be a text/],
    ['an agent without an id', 'name: A\nagents: [{ title: A }]', /an object with an _id/],
    ['a key of objects', 'name: A\nconstructor: 1', /constructor/],
    ['an unknown field', 'name: A\nnmae: B', /nmae/],
    [
      'aliases without end',
      `name: A\na: &a [x, x]\n${'bcdefghi'
        .split('')
        .map((c, i) => `${c}: &${c} [${`*${'abcdefgh'[i]}, `.repeat(9)}]`)
        .join('\n')}`,
      /alias/i,
    ],
  ])('are refused in one line: %s', async (_what, text, problem) => {
    verifies('cli.wrong-files');
    const folder = folderOf(await createWorkspace(deps));
    mkdirSync(folder.file('agentflows'));
    writeFileSync(`${folder.root}.md`, 'secret');
    symlinkSync(`${folder.root}.md`, folder.file('agentflows/link.md'));
    folder.write('agentflows/bad.yaml', text);
    const { code, stderr, stdout } = await folder.gcs(['push']);
    rmSync(`${folder.root}.md`);
    expect({ code: code > 0, stdout, lines: stderr.split('\n').length }).toEqual({ code: true, stdout: '', lines: 2 });
    expect(stderr).toMatch(problem);
  });

  test('are read in pages, however many there are', async () => {
    verifies('cli.many');
    const own = await createWorkspace(deps);
    for (let at = 0; at < 500; at += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, n) => own.api.post('/agentflow', { ...greeter, name: `Flow ${at + n}` })),
      );
    const folder = await pulled(own);
    // Notes each request of the process.
    folder.write(
      'config/note.mjs',
      `import { appendFileSync } from 'node:fs';
const send = globalThis.fetch;
globalThis.fetch = (url, options) => {
  appendFileSync(${JSON.stringify(folder.file('config/requests'))}, new URL(url).pathname + '\\n');
  return send(url, options);
};`,
    );
    const noted = { ...folder.settings, NODE_OPTIONS: `--import=${folder.file('config/note.mjs')}` };
    expect(await folder.gcs(['plan'], noted)).toMatchObject({ code: 0, stdout: 'Nothing differs.\n' });
    expect(Object.keys(folder.contents('agentflows')).filter((name) => name.endsWith('.yaml'))).toHaveLength(500);
    const requests = folder.read('config/requests').trim().split('\n');
    const { projectID } = own;
    expect(requests.sort()).toEqual(
      [
        ...['/v1/connection-info', '/v1/policies', '/schedule/coworker'],
        ...['/agentflow', '/agentflow', '/agentflow'],
        ...[`/storage/${projectID}`, `/connectors/${projectID}`, `/dashboard/${projectID}`],
      ].sort(),
    );
  }, 240_000);
});

describe('releases and runs', () => {
  test('are published, promoted, rolled back and compared', async () => {
    verifies('cli.releases');
    const own = await createWorkspace(deps);
    const { _id } = (await own.api.post('/agentflow', greeter)).body;
    const folder = await pulled(own);
    expect(await folder.gcs(['promote', 'greeter'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('push --release'),
    });
    expect(await folder.gcs(['push', '--release', '--note', 'First'])).toMatchObject({ code: 0 });
    expect((await own.api.get(`/agentflow/${_id}/channels`)).body.channels).toEqual([]);
    expect(await folder.gcs(['promote', 'greeter', '--note', 'First'])).toMatchObject({
      ...{ code: 0, stdout: 'production: release 1\n' },
    });
    folder.write('agentflows/greeter/greeter.md', 'Greet {{ goal }} twice\n');
    expect(await folder.gcs(['push', '--release'])).toMatchObject({ code: 0 });
    expect(await folder.gcs(['push', '--release'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('has this content'),
    });
    expect(await folder.gcs(['diff', 'greeter'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('~ agents/greeter: prompt.template'),
    });
    expect(await folder.gcs(['promote', 'Greeter'])).toMatchObject({
      stdout: 'production: release 2 (before: release 1)\n',
    });
    const { stdout } = await folder.gcs(['history', 'greeter']);
    expect(stdout).toMatch(/^\S+Z release \d+ by \S+\n\S+Z release 1 by \S+: First\n$/);
    expect(await folder.gcs(['rollback', _id])).toMatchObject({
      stdout: 'production: release 1 (before: release 2)\n',
    });
    expect(await folder.gcs(['rollback', 'greeter'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('none before'),
    });
  });

  test('are started, followed and read', async () => {
    verifies('cli.run');
    const own = await createWorkspace(deps);
    await own.api.post('/agentflow', greeter);
    const folder = folderOf(own);
    const { code, stdout, stderr } = await folder.gcs([
      'run',
      'Greeter',
      '--goal',
      'Ada',
      '--draft',
      '--wait',
      '--json',
    ]);
    const ended = JSON.parse(stdout) as { _id: string; status: string };
    expect([ended.status, code]).toEqual(['completed', 0]);
    expect(stderr).toMatch(
      /\d\d:\d\d:\d\d has started: Ada\n.* Greeter has started\n(.*\n)*.* Greeter has ended: .+\n.* has completed\n$/,
    );
    expect(stderr).not.toMatch(/[\r\u001b]/);
    expect((await folder.gcs(['logs', ended._id, '-f'])).stdout).toContain('Greeter has started');
    expect((await folder.gcs(['logs', ended._id, '-f', '--json'])).stdout).toContain('"type":"agent_started"');
    expect(await folder.gcs(['logs', ended._id])).toMatchObject({ code: 0 });
    const opened = await folder.gcs(['open', 'Greeter']);
    expect(opened.code).toBe(0);
    expect(opened.stdout).toMatch(/^http\S+\n$/);
    const { pathname } = new URL(opened.stdout);
    expect(pathname).toMatch(new RegExp(`^/console/projects/${own.projectID}/agentflows/[0-9a-f-]{36}$`));
    // The console asks people to sign in and then shows the page.
    const { status, headers } = await fetch(opened.stdout.trim(), { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([303, expect.stringContaining(encodeURIComponent(pathname))]);
  });
});

describe('wrong calls', () => {
  test.each([
    [['nothing'], 3, /unknown command/],
    [['promote', 'Nobody'], 3, /there is no agentflow "Nobody"/],
    [['promote', 'x', '--version', '-1'], 3, /must be the number of a release/],
    [['run', 'x'], 3, /--goal/],
    [['approve', 'nothing'], 1, /not_found/],
    [['completion', 'tcsh'], 3, /must be bash, zsh or fish/],
    [['pull'], 3, /gcs init/],
  ])('%j end with %d', async (args, code, text) => {
    verifies('cli.errors');
    const folder = folderOf(await createWorkspace(deps));
    const ended = await folder.gcs(args);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(text);
  });

  test('with a wrong key, address or incomplete settings say what is expected', async () => {
    verifies('cli.errors', 'cli.login');
    const { projectID, apiKey } = await createWorkspace(deps);
    const folder = folderOf({ projectID, apiKey });
    const wrong = { GCS_URL: testRun().url, GCS_PROJECT: projectID, GCS_API_KEY: 'svc_sk_wrong' };
    expect(await folder.gcs(['login'], wrong)).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('GCS_API_KEY'),
    });
    expect(await folder.gcs(['init'], { GCS_URL: testRun().url })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('GCS_PROJECT and GCS_API_KEY'),
    });
    expect(await folder.gcs(['init'], {})).toMatchObject({ code: 3, stderr: expect.stringContaining('gcs login') });
    expect(await folder.gcs(['init'], { ...wrong, GCS_URL: 'host' })).toMatchObject({ code: 3 });
    expect(existsSync(folder.file('config/gcs/credentials.json'))).toBe(false);
    expect(await folder.gcs(['login'])).toMatchObject({ code: 0 });
    chmodSync(folder.file('config/gcs/credentials.json'), 0o644);
    expect(await folder.gcs(['login'])).toMatchObject({ code: 0 });
    expect(statSync(folder.file('config/gcs/credentials.json')).mode & 0o777).toBe(0o600);
    expect(await folder.gcs(['init'], {})).toMatchObject({ code: 0 });
    // Nothing asks for another key, because nobody may be there.
    await deps.mongo.collections.api_keys.updateOne({ _id: sha256Hex(apiKey) }, { $set: { revoked_at: 1 } });
    const again = /^gcs: the service does not accept the key: .*; replace it with `gcs login`; .*credentials\.json\n$/;
    expect(await folder.gcs(['plan'], {})).toMatchObject({ code: 6, stdout: '', stderr: expect.stringMatching(again) });
  });

  test('say their version, and complete in a shell', async () => {
    verifies('cli.completion');
    const folder = folderOf({ projectID: 'p', apiKey: 'k' });
    expect((await folder.gcs(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const { stdout } = await folder.gcs(['completion', 'bash']);
    folder.write('complete.sh', `${stdout}\nCOMP_WORDS=(gcs pro) COMP_CWORD=1\n_gcs\necho "\${COMPREPLY[@]}"\n`);
    const shown = await new Promise((resolve) =>
      execFile('bash', [folder.file('complete.sh')], (_error, text) => resolve(text)),
    );
    expect(shown).toBe('promote\n');
  });
});
