import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { verifies } from '../support/verifies.js';

interface Report {
  /** The number of different expressions, and of files that compose some at run time. */
  checked: number;
  constructed: number;
  slow: { file: string; source: string; flags: string; status: string; degree: string }[];
}

test('no regular expression takes more than linear time', async () => {
  verifies('project.linear-expressions');
  const script = path.join(packageRoot, 'dist/test/support/check-patterns.js');
  const report = await new Promise<Report>((resolve, reject) => {
    execFile('node', [script, packageRoot], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error) reject(new Error(stderr || error.message));
      else resolve(JSON.parse(stdout) as Report);
    });
  });
  expect(report.slow).toEqual([]);
  expect(report.checked).toBeGreaterThan(250);
  expect(report.constructed).toBeGreaterThan(3);
}, 600_000);
