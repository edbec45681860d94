import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ESLint } from 'eslint';
import { packageRoot } from '../../src/package-root.js';
import { verifies } from '../support/verifies.js';

const lint = new ESLint({ cwd: packageRoot });

/** The layer rule's complaints about an import, as if it stood in that file. */
async function complaints(file: string, imported: string): Promise<string[]> {
  const [result] = await lint.lintText(`import '${imported}';\n`, { filePath: path.join(packageRoot, file) });
  return (result?.messages ?? []).filter(({ ruleId }) => ruleId?.endsWith('no-restricted-imports')).map(({ message }) => message);
}

describe('the layers', () => {
  test('are imported in one direction only', async () => {
    verifies('project.imports-one-way');
    expect(await complaints('workflows/approval/state.ts', '../../src/ids.js')).not.toEqual([]);
    expect(await complaints('workflows/approval/state.ts', 'node:fs')).not.toEqual([]);
    expect(await complaints('src/http/mount.ts', '../platform/routes.js')).not.toEqual([]);
    expect(await complaints('src/platform/scope.ts', '../gateway/rest.js')).not.toEqual([]);
    expect(await complaints('src/gateway/rest.ts', '../platform/routes.js')).not.toEqual([]);
    expect(await complaints('src/gateway/rest.ts', '../http/mount.js')).toEqual([]);
  }, 120_000);
});
