// Replaces the entry points of the processes in `dist` by bundles: Node.js would load each of their 2,500 modules from
// a file of its own, which takes most of the time of a start (docs/decisions/0080).
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
  // Errors and their stack traces are named after their classes and functions.
  keepNames: true,
  // For `NODE_OPTIONS=--enable-source-maps`.
  sourcemap: true,
  sourcesContent: false,
  // What CommonJS modules expect.
  banner: {
    js: `import * as bundledModule from 'node:module';
const require = bundledModule.createRequire(import.meta.url);
const __filename = import.meta.filename;
const __dirname = import.meta.dirname;`,
  },
  logLevel: 'warning',
};
/** They read files next to their own, or are loaded only where they are needed. */
const unbundled = ['@aws-sdk/*', '@cedar-policy/*', '@node-rs/*', 'piscina', 'swagger-ui-dist', '#cypher-grammar/*'];

await Promise.all([
  build({ ...common, entryPoints: ['src/main.ts', 'src/thread.ts'], external: unbundled }),
  build({ ...common, entryPoints: ['src/worker.ts'], external: [...unbundled, '@temporalio/*'] }),
]);
