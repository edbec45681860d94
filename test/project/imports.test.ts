import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { verifies } from '../support/verifies.js';

const checker = path.join(packageRoot, 'node_modules/.bin/depcruise');
const config = '.dependency-cruiser.cjs';

/** The names of the rules that the imports below `folders` break, each once. */
async function brokenRules(root: string, folders: readonly string[]): Promise<string[]> {
  const report = await new Promise<string>((resolve, reject) => {
    const args = ['--config', config, '--output-type', 'json', ...folders];
    execFile(checker, args, { cwd: root, maxBuffer: 1 << 28 }, (_failed, stdout, stderr) => {
      if (stdout === '') reject(new Error(stderr));
      else resolve(stdout);
    });
  });
  const { summary } = JSON.parse(report) as { summary: { violations: { rule: { name: string } }[] } };
  return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
}

const wrongImports = {
  'src/stores/a.ts': "import '../domain/tags/b.js';",
  'src/domain/tags/b.ts': "import './c.js';",
  'src/domain/tags/c.ts': "import './b.js';",
  'src/surfaces/mcp/d.ts': "import '../gateway/e.js';",
  'src/surfaces/gateway/e.ts': "import '../../stores/a.js';",
  'workflows/f.ts': "import '../src/base/ids.js';",
  'src/base/ids.ts': '',
};

describe('imports', () => {
  test('go down the floors, without a cycle', async () => {
    verifies('project.imports-one-way');
    expect(await brokenRules(packageRoot, ['src', 'activities', 'workflows', 'stack', 'bench', 'console'])).toEqual([]);
  });

  test('are refused if they go up, sideways or in a cycle', async () => {
    verifies('project.imports-one-way');
    const root = await mkdtemp(path.join(tmpdir(), 'imports-'));
    try {
      for (const [name, text] of Object.entries(wrongImports)) {
        await mkdir(path.dirname(path.join(root, name)), { recursive: true });
        await writeFile(path.join(root, name), `${text}\nexport const one = 1;\n`);
      }
      for (const name of [config, 'tsconfig.json', 'package.json']) {
        await cp(path.join(packageRoot, name), path.join(root, name));
      }
      expect(await brokenRules(root, ['src', 'workflows'])).toEqual([
        'mcp-imports-no-other-surface',
        'no-cycle',
        'stores-imports-downwards',
        'workflows-imports-downwards',
      ]);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
