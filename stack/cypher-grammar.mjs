// Compiles only the lexer and the parser of the Cypher package. The package's own bundle also loads completion, a
// linter and semantic analysis: 180 MB per process and more than a second per start (docs/decisions/0024).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from '@swc/core';

const source = 'node_modules/@neo4j-cypher/language-support/src/generated-parser';
const target = 'dist/cypher-grammar';
const options = { configFile: '.swcrc', sourceMaps: false, minify: false };

mkdirSync(target, { recursive: true });
for (const name of ['CypherCmdLexer', 'CypherCmdParser']) {
  const { code } = transformSync(readFileSync(path.join(source, `${name}.ts`), 'utf8'), {
    ...options,
    filename: `${name}.ts`,
  });
  writeFileSync(path.join(target, `${name}.js`), code);
}
