// Replaces the entry points of the processes in `dist` by bundles: Node.js would load each of their 2,500 modules from
// a file of its own, which takes most of the time of a start (docs/decisions/0001).
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const bundled = 'dist/src/bundled';
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  // Errors are named after their classes.
  keepNames: true,
  write: false,
  // Node.js uses them with `NODE_OPTIONS=--enable-source-maps`.
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
};
const unnamed = 'const unnamed = (made) => made;';
/** A process: CommonJS, because V8's code cache is only available for scripts. */
const processes = {
  ...common,
  outdir: bundled,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  // `import()` would need a flag of Node.js.
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': 'moduleUrl' },
  banner: { js: `const moduleUrl = require('node:url').pathToFileURL(__filename).href;\n${unnamed}` },
  // A plugin of Temporal that nothing uses looks for a file next to its own.
  logOverride: { 'require-resolve-not-external': 'silent' },
};
/** A thread, which Piscina imports. */
const threads = {
  ...common,
  outdir: 'dist/src',
  splitting: true,
  chunkNames: 'bundled/[name]-[hash]',
  format: 'esm',
  // Defines the globals that CommonJS modules expect.
  banner: {
    js: `import * as bundledModule from 'node:module';
const require = bundledModule.createRequire(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;
${unnamed}`,
  },
};
/** These packages read files next to their own, or are loaded only when needed. */
const unbundled = [
  '@aws-sdk/*',
  '@cedar-policy/*',
  '@jitl/*',
  '@node-rs/*',
  'jschardet',
  'jsonc-parser',
  'piscina',
  'swagger-ui-dist',
];

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

/**
 * Makes the text ASCII, which a process reads as Latin-1, so that V8 stores one byte for a character. esbuild leaves other
 * characters in regular expressions, tagged templates and comments.
 */
function inAscii(code) {
  const escaped = /.{0,40}\\[^\0-\x7f]/.exec(code);
  if (escaped) throw new Error(`the bundle has a backslash before a character that is not ASCII: ${escaped[0]}`);
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const built = await Promise.all([
  build({ ...processes, entryPoints: ['src/main.ts'], external: unbundled }),
  build({ ...processes, entryPoints: ['src/worker.ts'], external: [...unbundled, '@temporalio/*'] }),
  build({ ...threads, entryPoints: ['src/thread.ts'], external: unbundled }),
]);
await mkdir(bundled, { recursive: true });
// V8 compares only the length of a script with its cache, and would run the functions of the bundle before.
for (const name of ['main', 'worker']) await rm(`${bundled}/${name}.cjs.cache`, { force: true });
for (const { path, text } of built.flatMap(({ outputFiles }) => outputFiles))
  await writeFile(path, path.endsWith('js') ? inAscii(withoutNames(text)) : text);
await copyFile('stack/load-bundle.mjs', `${bundled}/load-bundle.mjs`);
await Promise.all(
  ['main', 'worker'].map(async (name) => {
    await writeFile(
      `dist/src/${name}.js`,
      `import { loadBundle } from './bundled/load-bundle.mjs';\nawait loadBundle('${name}').exports.main();\n`,
    );
    // With the flags of the processes.
    const args = ['--max-semi-space-size=8', 'stack/code-cache.mjs', name];
    await run(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  }),
);
