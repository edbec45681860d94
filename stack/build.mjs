// Builds `dist` if a source is newer. A second start must not empty the folder that a running stack uses, and later
// starts are faster.
import { execSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

const sources = [
  'src',
  'workflows',
  'activities',
  'stack',
  'bench',
  'console',
  'test/support',
  'sdk/cli/src',
  'sdk/node/src',
  'sdk/python/src',
  'sdk/generate.mjs',
  'sdk/python-types.mjs',
  'sdk/pack.mjs',
  '.swcrc',
  'package.json',
  'package-lock.json',
];

/** The time of the newest change below `name`. Folders count because deleting a file changes its folder. */
function changedAt(name) {
  const stats = statSync(name);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(name).map((entry) => changedAt(path.join(name, entry))));
}

/** A build writes the bundle of the workflows last. */
const builtAt = statSync('dist/workflow-bundle.js', { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (sources.some((name) => changedAt(name) > builtAt)) execSync('npm run --silent build', { stdio: 'inherit' });
