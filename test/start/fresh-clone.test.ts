import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';
import type { Workspace } from '../../src/domain/workspace/record.js';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { verifies } from '../support/verifies.js';
import { bothSamples } from './launcher.js';

jest.setTimeout(900_000);
const run = promisify(execFile);
/** A newcomer's environment, without anything of this run. Servers that were built earlier come from the cache. */
const env = Object.fromEntries(
  ['PATH', 'HOME', 'XDG_CACHE_HOME', 'JAVA_HOME'].map((name) => [name, process.env[name]]),
);
const options = { env: { ...env, NO_COLOR: '1', npm_config_loglevel: 'error' }, maxBuffer: 64 * 1024 * 1024 };
let folder: string;
let clone: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fresh-clone-'));
  clone = path.join(folder, 'clone');
  await run('git', ['clone', '--quiet', packageRoot, clone], options);
  await run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], { ...options, cwd: clone });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('npm start of a fresh clone starts its own servers and runs the sample, and Ctrl-C stops all of them', async () => {
  verifies('whole.fresh-clone');
  const started = spawn('npm', ['start'], {
    ...options,
    cwd: clone,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(started, 'close');
  let printed = '';
  for (const stream of [started.stdout, started.stderr])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  try {
    const isUp = eventually(() => expect(printed).toContain('Ctrl-C stops everything'), {
      timeoutMs: 600_000,
      everyMs: 500,
    });
    const endedEarly = ended.then(() => Promise.reject(new Error(`it ended before it was up:\n${printed}`)));
    await Promise.race([isUp, endedEarly]);
    const workspace = JSON.parse(await readFile(path.join(clone, '.data/workspace.json'), 'utf8')) as Workspace;
    const answer = await apiClient(workspace.base_url, { 'x-api-key': workspace.api_key }).get(
      `/${workspace.project_id}/execution_flows`,
    );
    expect(answer).toMatchObject({ status: 200, body: bothSamples });
  } finally {
    process.kill(-(started.pid ?? 0), 'SIGINT');
    await ended;
  }
  expect(() => process.kill(-(started.pid ?? 0), 0)).toThrow('ESRCH');
});

test('a start does not rebuild existing output', async () => {
  verifies('start.leaves-dist');
  const built = async () => (await stat(path.join(clone, 'dist/workflow-bundle.js'))).mtimeMs;
  const before = await built();
  await run('node', ['stack/build.mjs'], { ...options, cwd: clone });
  expect(await built()).toBe(before);
  await writeFile(path.join(clone, 'src/added.ts'), 'export const added = 1;\n');
  await run('node', ['stack/build.mjs'], { ...options, cwd: clone });
  expect(await built()).toBeGreaterThan(before);
});

test('npm test of a fresh clone runs its tests on its own servers', async () => {
  verifies('whole.fresh-clone');
  const { stderr } = await run('npm', ['test', '--', 'test/config.test.ts', 'test/surfaces/platform/inbox.test.ts'], {
    ...options,
    cwd: clone,
  });
  expect(stderr).toMatch(/^Test Suites: 2 passed, 2 total$/m);
});
