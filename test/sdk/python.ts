import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';

const run = promisify(execFile);
const folder = path.join(packageRoot, 'sdk/python');

/** Runs a program with the Python client on its path; returns its output. */
export async function python(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  const inherited = {
    PATH: process.env.PATH ?? '',
    PYTHONPATH: path.join(folder, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return run('python3', args, { cwd: folder, env: { ...inherited, ...env } });
}

/** The client's own tests of this dotted name, all of which must pass. */
export async function pythonTests(name: string, env: Record<string, string> = {}): Promise<void> {
  const { stderr } = await python(['-m', 'unittest', name], env).catch((error: unknown) => {
    throw new Error(`${name}\n${(error as { stderr?: string }).stderr ?? ''}`, { cause: error });
  });
  expect(stderr).toMatch(/^Ran [1-9]\d* tests? in [\s\S]*\nOK\n$/m);
}
