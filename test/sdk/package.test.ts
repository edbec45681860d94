import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config.js';
import { connectionInfoRoutes } from '../../src/surfaces/gateway/connection-info.js';
import { packageRoot } from '../../src/package-root.js';
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
    for (const file of ['_client.py', 'types.py', '_calls.py', '_operations.py'])
      expect([file, wheel?.includes(`governed_context_service/${file}`)]).toEqual([file, true]);
  });

  test('names the commands that the operator configured', async () => {
    verifies('sdk.served');
    const commands = { SDK_NODE_INSTALL: 'npm install @ours/service', SDK_PYTHON_INSTALL: 'pip install ours' };
    const { clientInstall } = loadConfig({ ...testRun().env, ...commands });
    const [route] = connectionInfoRoutes(() => 'https://service.test', clientInstall);
    expect(await route?.handler({} as never)).toMatchObject({
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
        'dist/index.js',
        'dist/index.d.ts',
        'dist/openapi.d.ts',
        'dist/operations.js',
      ]),
    );
    expect(names.filter((name) => !/^(README\.md|package\.json|dist\/[\w-]+\.(js|d\.ts))$/.test(name))).toEqual([]);

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
  });
});
