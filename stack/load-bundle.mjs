// `stack/bundle.mjs` copies this to `dist/src/bundled`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';

/**
 * Loads a bundle with V8's code cache, which saves a quarter of the processor time of a start (docs/decisions/0001). V8
 * refuses a cache of another version or of other flags, and compiles the bundle then.
 */
export function loadBundle(name) {
  const file = path.join(import.meta.dirname, `${name}.cjs`);
  const require = createRequire(file);
  // V8's API does not read source maps.
  if (process.sourceMapsEnabled) return { exports: require(file) };
  const cacheFile = `${file}.cache`;
  // The build escapes all other characters.
  const source = readFileSync(file, 'latin1');
  const script = new Script(`(function (module, exports, require, __filename, __dirname) {${source}\n})`, {
    filename: file,
    cachedData: readIfPresent(cacheFile),
  });
  const module = { exports: {} };
  script.runInThisContext()(module, module.exports, require, file, path.dirname(file));
  return { exports: module.exports, script, cacheFile };
}

function readIfPresent(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
