import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { SyncTransformer } from '@jest/transform';
import { packageRoot } from '../../src/base/packages.js';

/*
 * A transformer for the built product and for packages. Jest would compile their 2,000 modules again for each test file,
 * which takes seconds. Node loads them once for each process of Jest, and Jest sees a module that hands them over.
 */
const load = createRequire(import.meta.url);
/** Everything that determines the text in addition to the file: this transformer, and the packages that a file re-exports. */
const basis = [new URL(import.meta.url), path.join(packageRoot, 'package-lock.json')]
  .reduce((hash, file) => hash.update(readFileSync(file)), createHash('sha256'))
  .digest();

function handOver(file: string, isEsm: boolean): string {
  const loaded = load(file) as Record<string, unknown> | undefined;
  const names = Object.keys(loaded ?? {}).filter((name) => name !== 'default' && /^[A-Za-z_$][\w$]*$/.test(name));
  const source = `loadNatively(${JSON.stringify(file)})`;
  // Jest's lexer reads the names of a CommonJS module from assignments, which need not be reached.
  if (!isEsm)
    return `module.exports = ${source};\nif (false) {${names.map((name) => `exports.${name} = 0;`).join(' ')}}`;
  return [
    `const loaded = ${source};`,
    ...names.map((name, at) => `const _${at} = loaded.${name};`),
    `export { ${names.map((name, at) => `_${at} as ${name}`).join(', ')} };`,
    ...('default' in (loaded ?? {}) ? ['export default loaded.default;'] : []),
  ].join('\n');
}

const transformer: SyncTransformer = {
  getCacheKey: (text, file, { supportsStaticESM, supportsDynamicImport }) =>
    [basis, text, file, JSON.stringify({ supportsStaticESM, supportsDynamicImport })]
      .reduce((hash, part) => hash.update(part), createHash('sha256'))
      .digest('hex'),
  process(text, file, { supportsStaticESM, supportsDynamicImport }) {
    // Only tests can import: this is loaded for the global setup, which runs outside of Jest's environment.
    if (!supportsDynamicImport) return { code: text };
    return { code: handOver(file, supportsStaticESM) };
  },
};

export default transformer;
