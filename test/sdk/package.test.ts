import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { afterAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import ts from 'typescript';
import { loadConfig } from '../../src/config.js';
import { connectionInfoRoutes } from '../../src/surfaces/gateway/connection-info.js';
import { packageRoot } from '../../src/base/packages.js';
import { apiClient } from '../support/client.js';
import { createWorkspace, useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const run = promisify(execFile);
const deps = useDeps();
const folder = mkdtempSync(path.join(tmpdir(), 'node-client-'));
afterAll(() => rmSync(folder, { recursive: true }));

const text = (file: string) => readFileSync(path.join(packageRoot, file), 'utf8');
const manifest = JSON.parse(text('sdk/node/package.json')) as { name: string; version: string; license: string };
const inProject = (field: string) =>
  new RegExp(`^${field} = "(.+)"$`, 'm').exec(text('sdk/python/pyproject.toml'))?.[1];

describe('GET /v1/connection-info', () => {
  test('names the two packages and their addresses on this service', async () => {
    verifies('sdk.named-by-connection-info', 'sdk.served');
    const { body } = await apiClient(testRun().url).get('/v1/connection-info');
    expect(body.sdk).toMatchObject({ python: { package: inProject('name') }, node: { package: manifest.name } });
    const addresses = Object.values(body.sdk as Record<string, { install: string }>).map(
      ({ install }) => /^(?:npm|pip) install (http\S+)$/.exec(install)?.[1] ?? '',
    );
    const contents = await Promise.all(
      addresses.map(async (address) =>
        Buffer.from(await (await fetch(testRun().url + new URL(address).pathname)).arrayBuffer()),
      ),
    );
    const [wheel, tarball] = contents;
    expect([wheel?.subarray(0, 2).toString(), tarball?.subarray(0, 2)]).toEqual(['PK', Buffer.from([0x1f, 0x8b])]);
    for (const file of ['types.py', '_operations.py', '_sync/client.py', '_sync/calls.py', '_async/client.py'])
      expect([file, wheel?.includes(`governed_context_service/${file}`)]).toEqual([file, true]);
  });

  test('is not needed for gcs, which has one address', async () => {
    verifies('sdk.served');
    const answer = await fetch(`${testRun().url}/clients/gcs.tgz`);
    writeFileSync(path.join(folder, 'gcs.tgz'), Buffer.from(await answer.arrayBuffer()));
    await run('tar', ['-xzf', 'gcs.tgz'], { cwd: folder });
    const program = path.join(folder, 'package/dist/gcs.mjs');
    expect((await run(process.execPath, [program, '--version'])).stdout).toBe(`${manifest.version}\n`);
  });

  test('names the commands that the operator configured', async () => {
    verifies('sdk.served');
    const commands = { SDK_NODE_INSTALL: 'npm install @ours/service', SDK_PYTHON_INSTALL: 'pip install ours' };
    const { clientInstall } = loadConfig({ ...testRun().env, ...commands });
    const [route] = connectionInfoRoutes(() => 'https://service.test', clientInstall);
    expect(await route?.handler?.({} as never)).toMatchObject({
      sdk: { node: { install: commands.SDK_NODE_INSTALL }, python: { install: commands.SDK_PYTHON_INSTALL } },
    });
  });
});

describe('the packages', () => {
  test('have the version and the licence of the service', () => {
    const { version, license } = JSON.parse(text('package.json')) as typeof manifest;
    expect(manifest).toMatchObject({ version, license });
    expect([inProject('version'), inProject('license')]).toEqual([version, `LicenseRef-${license}`]);
  });

  test('for Node contains the built client with its types, and works after installation', async () => {
    verifies('sdk.node', 'sdk.environment');
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: path.join(packageRoot, 'sdk/node'),
    });
    const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    const names = files.map((file) => file.path);
    expect(names).toEqual(
      expect.arrayContaining([
        'README.md',
        'package.json',
        'dist/esm/index.js',
        'dist/esm/index.d.ts',
        'dist/esm/openapi.d.ts',
        'dist/esm/operations.js',
        'dist/cjs/index.js',
        'dist/cjs/index.d.ts',
      ]),
    );
    expect(
      names.filter(
        (name) =>
          !/^(README\.md|package\.json|dist\/cjs\/package\.json|dist\/(esm|cjs)\/[\w-]+\.(js|d\.ts))$/.test(name),
      ),
    ).toEqual([]);

    const installed = path.join(folder, 'node_modules', manifest.name);
    mkdirSync(installed, { recursive: true });
    await run('tar', ['-xzf', path.join(folder, filename), '-C', installed, '--strip-components=1']);
    const program = path.join(folder, 'program.mjs');
    writeFileSync(
      program,
      `import { createClient } from '${manifest.name}'; console.log((await createClient().gateway.docs()).auth_kind);`,
    );
    const { projectID, apiKey } = await createWorkspace(deps);
    const env = {
      PATH: process.env.PATH,
      SERVICE_WORKSPACE: `${testRun().url}/ws_${projectID}`,
      SERVICE_API_KEY: apiKey,
    };
    expect((await run(process.execPath, [program], { env })).stdout).toBe('api_key\n');
    const required = path.join(folder, 'program.cjs');
    writeFileSync(
      required,
      `require('${manifest.name}').createClient().gateway.docs().then(({ auth_kind }) => console.log(auth_kind));`,
    );
    // As in test runners that cannot load ES modules.
    const flags = ['--no-experimental-require-module', required];
    expect((await run(process.execPath, flags, { env })).stdout).toBe('api_key\n');
  });

  test('for Node has types for ES modules and for CommonJS', () => {
    verifies('sdk.node.formats');
    const program = "import { createClient, type Execution } from '@governed-context/service';\n";
    const use =
      'const get = (id: string): Promise<Execution> => createClient().platform.executions.get(id);\nvoid get;\n';
    expect([problemsIn('module.mts', program + use), problemsIn('common.cts', program + use)]).toEqual([[], []]);
    expect(problemsIn('wrong.cts', `${program}createClient().gateway.ask();`)).toHaveLength(1);
  });

  test('for Node runs without modules of Node.js, as in a browser', async () => {
    verifies('sdk.node.formats');
    const { outputFiles } = await build({
      stdin: {
        contents: `import { createClient } from './index.js'; globalThis.createClient = createClient;`,
        resolveDir: path.join(packageRoot, 'sdk/node/dist/esm'),
      },
      ...{ bundle: true, write: false, platform: 'browser', format: 'iife', logLevel: 'silent' },
    });
    const asked: string[] = [];
    const answer = (url: string, init: RequestInit) => {
      asked.push(`${init.method ?? 'GET'} ${url}`, (init.headers as Record<string, string>)?.['idempotency-key'] ?? '');
      const info = { apiBaseUrl: 'https://host/v1', workspaceHeader: 'X-Service-Workspace' };
      return Promise.resolve(Response.json(url.endsWith('connection-info') ? info : { _id: 'flow' }));
    };
    const globals = {
      crypto: { getRandomValues: crypto.getRandomValues.bind(crypto) },
      URL,
      FormData,
      Blob,
      TextDecoder,
    };
    const page = createContext({ ...globals, fetch: answer, setTimeout, clearTimeout });
    runInContext(outputFiles[0]?.text ?? '', page);
    const call = `createClient({ workspace: 'https://host/ws_p1', apiKey: 'k' }).platform.agentflows.create({ name: 'a' })`;
    expect(await runInContext(call, page)).toEqual({ _id: 'flow' });
    const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(asked).toEqual([
      'GET https://host/v1/connection-info',
      '',
      'POST https://host/agentflow?projectID=p1',
      uuid,
    ]);
  });
});

/** The compiler messages for a program beside the installed package. */
function problemsIn(name: string, program: string): string[] {
  const file = path.join(folder, name);
  writeFileSync(file, program);
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: false, types: ['node'] },
    ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.Node16, lib: ['lib.es2023.d.ts'] },
    typeRoots: [path.join(packageRoot, 'node_modules/@types')],
  };
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options))
    .filter((problem) => problem.file?.fileName.startsWith(folder))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
