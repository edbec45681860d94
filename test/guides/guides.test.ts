import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { createPerson } from '../auth/auth-server.js';
import { useDeps } from '../support/fixture.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const folder = mkdtempSync(path.join(tmpdir(), 'guides-'));
afterAll(() => rmSync(folder, { recursive: true }));
const guides = [
  'README.md',
  ...readdirSync(path.join(packageRoot, 'docs/guides')).map((name) => `docs/guides/${name}`),
];

interface Block {
  text: string;
  /** Why CI cannot run the block, from the comment above it in the guide. */
  notRun: string | undefined;
}

function blocksOf(guide: string): Block[] {
  const source = readFileSync(path.join(packageRoot, guide), 'utf8');
  return [...source.matchAll(/(?:<!-- not run: (.+?) -->\n)?```sh\n([\s\S]*?)```/g)].map(([, notRun, text = '']) => ({
    notRun,
    text,
  }));
}

/** The project folder during a running `npm start`, and a curl that fails on a refusal. */
async function projectFolder(name: string): Promise<{ cwd: string; env: NodeJS.ProcessEnv }> {
  const cwd = path.join(folder, name.replaceAll('/', '-'));
  mkdirSync(path.join(cwd, '.data'), { recursive: true });
  for (const entry of readdirSync(packageRoot))
    if (!['.data', '.git'].includes(entry)) symlinkSync(path.join(packageRoot, entry), path.join(cwd, entry));
  const { env, url } = testRun();
  const { email, password, workspace } = await createPerson(deps);
  const { projectID: project_id, organizationId: organization_id, apiKey: api_key } = workspace;
  const addresses = {
    base_url: url,
    api_url: url,
    temporal_address: env.TEMPORAL_ADDRESS,
    temporal_ui_url: env.TEMPORAL_UI_URL,
  };
  const file = {
    ...addresses,
    organization_id,
    project_id,
    workspace: `ws_${project_id}`,
    admin: { email, password },
    api_key,
  };
  writeFileSync(path.join(cwd, '.data/workspace.json'), JSON.stringify(file));
  const bin = path.join(cwd, '.data/bin');
  mkdirSync(bin);
  const curl = path.join(bin, 'curl');
  writeFileSync(curl, `#!/bin/sh\nexec ${await which('curl')} --fail-with-body "$@"\n`);
  chmodSync(curl, 0o755);
  const { HOME, PATH, TMPDIR, XDG_CACHE_HOME } = process.env;
  return { cwd, env: { HOME, TMPDIR, XDG_CACHE_HOME, PATH: `${bin}:${PATH}` } };
}

function which(command: string): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile('which', [command], (error, stdout) => (error ? reject(error) : resolve(stdout.trim()))),
  );
}

/** Runs all blocks of a guide in one shell, as a reader pastes them one after another. */
async function paste(guide: string, blocks: readonly Block[]): Promise<string> {
  const { cwd, env } = await projectFolder(guide);
  const script = ['set -eo pipefail', ...blocks.map(({ text }) => text)].join('\n');
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['-c', script],
      { cwd, env, timeout: 240_000, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        resolve(error ? `${error.message.slice(0, 200)}\n${stdout}\n${stderr}` : 'passed');
      },
    );
  });
}

describe('the commands of the guides', () => {
  test.each(guides.filter((guide) => blocksOf(guide).some(({ notRun }) => notRun === undefined)))(
    'succeed when pasted: %s',
    async (guide) => {
      verifies('guides.run-as-pasted');
      expect(
        await paste(
          guide,
          blocksOf(guide).filter(({ notRun }) => notRun === undefined),
        ),
      ).toBe('passed');
    },
    300_000,
  );

  test('are skipped only with a reason', () => {
    verifies('guides.run-as-pasted');
    const leftOut = guides.flatMap(blocksOf).filter(({ notRun }) => notRun !== undefined);
    expect(leftOut.filter(({ notRun }) => (notRun ?? '').length < 10)).toEqual([]);
    expect(leftOut.length).toBeLessThan(13);
  });
});
