import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/base/packages.js';

test.each(['main', 'worker'])('V8 accepts the code cache of %s with the flags of the image', (name) => {
  const dockerfile = readFileSync(path.join(packageRoot, 'Dockerfile'), 'utf8');
  const [, ...flags] = (JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '') as string[]).slice(0, -1);
  const program = `import { loadBundle } from './dist/src/bundled/load-bundle.mjs';
    console.log(loadBundle('${name}').script.cachedDataRejected);`;
  const output = execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', program], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH ?? '' },
    encoding: 'utf8',
  });
  expect(output).toBe('false\n');
});

test.each(['main', 'worker'])('%s is ASCII, because it is read as Latin-1', (name) => {
  const code = readFileSync(path.join(packageRoot, `dist/src/bundled/${name}.cjs`), 'latin1');
  const at = code.search(/[^\0-\x7f]/);
  expect(at === -1 ? '' : code.slice(at - 40, at + 40)).toBe('');
});
