import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { pythonEnvironment } from '../support/python-environment.js';

const run = promisify(execFile);
const folder = path.join(packageRoot, 'sdk/python');

/** Runs a program with the Python client on its path; returns its output. */
export async function python(
  args: string[],
  env: Record<string, string> = {},
  program = 'python3',
): Promise<{ stdout: string; stderr: string }> {
  const inherited = {
    PATH: process.env.PATH ?? '',
    PYTHONPATH: path.join(folder, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return run(program, args, { cwd: folder, env: { ...inherited, ...env } });
}

/** A Python with what the asynchronous client and the type checker need; installed on first use. */
export async function pythonWithTools(): Promise<string> {
  const tools = ['httpx==0.28.1', 'mypy==2.4.1'];
  const folder = await pythonEnvironment('python-client-1', (pip) => pip('install', ...tools));
  return path.join(folder, 'bin', 'python');
}

/** The client's own tests of this dotted name, all of which must pass. */
export async function pythonTests(name: string, env: Record<string, string> = {}, program = 'python3'): Promise<void> {
  const { stderr } = await python(['-m', 'unittest', name], env, program).catch((error: unknown) => {
    throw new Error(`${name}\n${(error as { stderr?: string }).stderr ?? ''}`, { cause: error });
  });
  expect(stderr).toMatch(/^Ran [1-9]\d* tests? in [\s\S]*\nOK\n$/m);
}
