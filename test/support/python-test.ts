import { execFileSync } from 'node:child_process';
import { test } from '@jest/globals';

/** In CI the tests fail instead, so that none is missed. */
const runs = process.env.CI !== undefined || hasPython();
if (!runs)
  console.warn('Skipped: the tests of the Python client and the fuzzer need python3, 3.10 or later, on the PATH.');

/** A test that needs Python; skipped on a machine that has none. */
export const pythonTest = runs ? test : test.skip;
export const pythonTestsRun = runs;

function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
