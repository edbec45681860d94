import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { Workspace } from '../../src/domain/workspace/record.js';
import { obtainBuiltBinary } from '../../stack/binary-cache.js';
import { runToEnd } from '../../stack/run-to-end.js';
import { apiClient } from '../support/client.js';
import { freePort } from '../support/ports.js';
import { verifies } from '../support/verifies.js';
import { bothSamples, endAll, launch } from './launcher.js';

let dataDir = '';

afterEach(async () => {
  endAll();
  await rm(dataDir, { recursive: true, force: true });
});

/** The executable of the newest Node with this major version, downloaded once from the npm registry. */
async function nodeOf(major: number): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const build = {
    key: `${name}-${major}`,
    from: 'the npm registry',
    takes: '10 seconds',
    into: async ({ env, folder, logFile }: { env: NodeJS.ProcessEnv; folder: string; logFile: string }) => {
      const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', `${name}@${major}`];
      await runToEnd({ command: 'npm', args, env, logFile });
    },
  };
  const folder = await obtainBuiltBinary({ title: `Node ${major}`, build }, { env: process.env, log: () => undefined });
  const file = path.join(folder, 'node_modules', name, 'bin/node');
  expect([file, existsSync(file)]).toEqual([file, true]);
  return file;
}

test.each([22, 24])(
  'on Node %i, API and worker start and run the sample',
  async (major) => {
    verifies('start.node-versions');
    const node = await nodeOf(major);
    expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toMatch(`v${major}.`);
    dataDir = await mkdtemp(path.join(tmpdir(), 'node-versions-'));
    const launched = launch(dataDir, { PORT: await freePort() }, [], { node });
    await launched.says('Ctrl-C stops everything');
    const workspace = JSON.parse(await readFile(path.join(dataDir, 'workspace.json'), 'utf8')) as Workspace;
    const client = apiClient(workspace.base_url, { 'x-api-key': workspace.api_key });
    expect(await client.get(`/${workspace.project_id}/execution_flows`)).toMatchObject({
      status: 200,
      body: bothSamples,
    });
    const [, api = '', worker = ''] = await launched.says(/\(pid (\d+)\); worker: polling \(pid (\d+)\)/);
    for (const pid of [api, worker]) expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).toMatch(node);
    launched.signal('SIGINT');
    expect((await launched.ended).code).toBe(0);
  },
  300_000,
);
