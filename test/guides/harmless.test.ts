import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../src/base/packages.js';
import { verifies } from '../support/verifies.js';

/** Commands that replace or delete what the example did not make. */
const destroying: readonly [what: string, pattern: RegExp][] = [
  [
    'replaces all rules',
    /(?:-X\s*PUT|method: 'PUT'|['"]PUT['"])[^\n]*\/v1\/policies(?!\/)|\/v1\/policies(?![/\w])[^\n]*-X\s*PUT/i,
  ],
  ['replaces all rules', /['"]put['"],\s*['"]\/v1\/policies['"]/i],
  ['changes the mode of a shared project', /-X\s*PUT[^\n]*\/mode\b/i],
  ['replaces settings', /-X\s*(?:PATCH|PUT)[^\n]*\/settings\//i],
  [
    'replaces the ontology of a shared project',
    /-H "(?:authorization|x-api-key)[^\n]*(?:\$KEY)"[^\n]*\/v1\/ontology[^\n]*commit/i,
  ],
  ['deletes a folder', /\brm\s+-\w*r/],
  ['deletes volumes', /\bcompose\b[^\n]*\bdown\b[^\n]*(?:-v\b|--volumes)|\bvolume (?:rm|prune)\b/],
  ['drops a database', /\bdropDatabase\b|--drop\b|DETACH DELETE/],
  ['overwrites the secrets of a deployment', /^(?!\[ -e \.env \] \|\| )\s*for [^\n]*\n(?:[^\n]*\n)?done > \.env/m],
  ['deletes a record with a made-up id', /(?:-X\s*DELETE[^\n]*\/|['"]delete['"],[^\n]*['"])(?:tag_1|[a-z]+_\d+)\b/i],
];

const root = (name: string) => path.join(packageRoot, name);
const below = (folder: string, ending: RegExp): string[] =>
  readdirSync(root(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.includes('node_modules'))
    .map((name) => path.join(folder, name))
    .filter((name) => statSync(root(name)).isFile());

/** The blocks of commands of a document. */
const blocksOf = (text: string) =>
  [...text.matchAll(/```(?:sh|bash|js|ts|python)\n([\s\S]*?)```/g)].map(([, block = '']) => block).join('\n');

const documents = ['README.md', 'sdk/node/README.md', 'sdk/python/README.md', ...below('docs', /\.md$/)];
const examples: (readonly [name: string, text: string])[] = [
  ...documents.map((name) => [name, blocksOf(readFileSync(root(name), 'utf8'))] as const),
  ...[
    ...below('samples', /\.sh$/),
    ...below('console/src', /curl\.ts$/),
    'stack/held-sample.ts',
    'stack/sample.ts',
    'stack/start.ts',
  ].map((name) => [name, readFileSync(root(name), 'utf8')] as const),
];

const faultsIn = (text: string) => destroying.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);

test.each(examples)('the commands of %s replace and delete only what they made', (_name, text) => {
  verifies('guides.harmless');
  expect(faultsIn(text)).toEqual([]);
});

test('hints of the console only create', () => {
  verifies('guides.harmless');
  const source = readFileSync(root('console/src/curl.ts'), 'utf8');
  expect([...source.matchAll(/curl -X (\S+)/g)].map(([, method]) => method)).toEqual(['POST']);
});

test.each([
  `curl -s -X PUT -H "authorization: Bearer $TOKEN" "$API/v1/policies" -d '{ "policies": [] }'`,
  `curl "$API/v1/policies" -X PUT -d '{}'`,
  `await call('put', '/v1/policies', { body: { policies: [] } });`,
  'rm -rf .data',
  'docker compose down -v',
  'for name in A; do\n  echo "$name=1"\ndone > .env',
  `curl -X PATCH "$API/settings/$PROJECT" -d '{ "configuration": {} }'`,
  `await call('delete', '/tag/{id}', { params: { id: 'tag_1' } });`,
])('a command that destroys is found: %s', (command) => {
  verifies('guides.harmless');
  expect(faultsIn(command)).not.toEqual([]);
});
