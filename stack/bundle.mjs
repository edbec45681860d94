// Replaces the entry points of the processes in `dist` by bundles: Node.js would load each of their 2,500 modules from
// a file of its own, which takes most of the time of a start (docs/decisions/0080).
import { mkdir, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';

const common = {
  outdir: 'dist/src',
  outbase: 'src',
  bundle: true,
  splitting: true,
  chunkNames: 'bundled/[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Errors are named after their classes.
  keepNames: true,
  write: false,
  // Node.js uses them with `NODE_OPTIONS=--enable-source-maps`.
  sourcemap: true,
  sourcesContent: false,
  // Defines the globals that CommonJS modules expect.
  banner: {
    js: `import * as bundledModule from 'node:module';
const require = bundledModule.createRequire(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;
const unnamed = (made) => made;`,
  },
  logLevel: 'warning',
};
/** These packages read files next to their own, or are loaded only when needed. */
const unbundled = ['@aws-sdk/*', '@cedar-policy/*', '@node-rs/*', 'piscina', 'swagger-ui-dist', '#cypher-grammar/*'];

/**
 * Removes the calls that set function names. esbuild sets a name each time a function is created, which took 5 % of the
 * processor time of a governed query. Only classes and constructors keep their names. Keeps each position for the
 * source map.
 */
function withoutNames(code) {
  return code
    .replace(/\/\* @__PURE__ \*\/ __name\(/g, (call) => 'unnamed('.padStart(call.length))
    .replace(/(?<=^\s*)__name\((?!this)[^A-Z][\w$]*, "[^"]*"\);$/gm, '');
}

const built = await Promise.all([
  build({ ...common, entryPoints: ['src/main.ts', 'src/thread.ts'], external: unbundled }),
  build({ ...common, entryPoints: ['src/worker.ts'], external: [...unbundled, '@temporalio/*'] }),
]);
await mkdir('dist/src/bundled', { recursive: true });
for (const { path, text } of built.flatMap(({ outputFiles }) => outputFiles))
  await writeFile(path, path.endsWith('.js') ? withoutNames(text) : text);
