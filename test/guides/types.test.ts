import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { packageRoot } from '../../src/base/packages.js';
import { verifies } from '../support/verifies.js';

const guides = [
  'README.md',
  'sdk/node/README.md',
  ...readdirSync(path.join(packageRoot, 'docs/guides')).map((name) => `docs/guides/${name}`),
];

/** All blocks of a guide as one program, as a reader pastes them one below another. */
function programOf(guide: string): string {
  const source = readFileSync(path.join(packageRoot, guide), 'utf8');
  return [...source.matchAll(/```(?:js|ts|javascript|typescript)\n([\s\S]*?)```/g)].map(([, text]) => text).join('\n');
}

/** The compiler messages for a program that imports the client package, with the strictest settings. */
function problemsOf(text: string): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'guide-types-'));
  try {
    const file = path.join(folder, 'guide.mts');
    writeFileSync(file, text);
    const options: ts.CompilerOptions = {
      ...{ strict: true, noEmit: true, noUncheckedIndexedAccess: true },
      // As the package is compiled: without the DOM library.
      lib: ['lib.es2023.d.ts'],
      ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, skipLibCheck: true },
      ...{ types: ['node'], typeRoots: [path.join(packageRoot, 'node_modules/@types')] },
      paths: { '@governed-context/service': [path.join(packageRoot, 'sdk/node/src/index.ts')] },
    };
    return ts
      .getPreEmitDiagnostics(ts.createProgram([file], options))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the TypeScript examples', () => {
  test.each(guides.filter((guide) => programOf(guide) !== ''))('of %s pass the type checker', (guide) => {
    verifies('guides.examples-type-check');
    expect(problemsOf(programOf(guide))).toEqual([]);
  });

  test('fail with a misspelled field, a missing one, or an unknown function', () => {
    const start = "import { createClient } from '@governed-context/service';\nconst { gateway } = createClient();\n";
    expect(problemsOf(`${start}await gateway.queryContext({ query: 'x', limt: 5 });`)).toHaveLength(1);
    expect(problemsOf(`${start}await gateway.queryContext({});`)).toHaveLength(1);
    expect(problemsOf(`${start}await gateway.ask('x');`)).toHaveLength(1);
  });

  test('include at least those of the client package', () => {
    expect(programOf('sdk/node/README.md')).toContain('gateway.saveContext');
  });
});
