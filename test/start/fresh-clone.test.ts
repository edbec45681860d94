import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import type { Workspace } from '../../src/domain/workspace/record.js';
import { apiClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { verifies } from '../support/verifies.js';
import { bothSamples } from './launcher.js';

jest.setTimeout(900_000);
const run = promisify(execFile);
/** A newcomer's environment without the variables of this run. Servers that were built earlier come from the cache. */
const env = Object.fromEntries(
  ['PATH', 'HOME', 'XDG_CACHE_HOME', 'JAVA_HOME'].map((name) => [name, process.env[name]]),
);
/** Other tests start stacks at the same time. */
const options = {
  env: { ...env, PORT: '0', NO_COLOR: '1', npm_config_loglevel: 'error' },
  maxBuffer: 64 * 1024 * 1024,
};
let folder: string;
let clone: string;

/** `.ci/run` proves `npm ci`, the build and `npm test` in a fresh clone, because it runs in one. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fresh-clone-'));
  clone = path.join(folder, 'clone');
  await run('git', ['clone', '--quiet', packageRoot, clone], options);
  await symlink(path.join(packageRoot, 'node_modules'), path.join(clone, 'node_modules'));
  await cp(path.join(packageRoot, 'dist'), path.join(clone, 'dist'), { recursive: true });
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
    // It says why a sample has failed.
    expect(printed).not.toContain('could not be completed');
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

test('a start rebuilds the output only after a source has changed', async () => {
  verifies('start.leaves-dist');
  const bin = path.join(folder, 'bin');
  await mkdir(bin);
  await writeFile(path.join(bin, 'npm'), '#!/bin/sh\necho "npm $*"\n', { mode: 0o755 });
  const PATH = `${bin}:${env.PATH}`;
  const commands = async () =>
    (await run('node', ['stack/build.mjs'], { cwd: clone, env: { ...env, PATH } })).stdout.trim();
  expect(await commands()).toBe('');
  await writeFile(path.join(clone, 'src/added.ts'), 'export const added = 1;\n');
  expect(await commands()).toBe('npm run --silent build');
});
