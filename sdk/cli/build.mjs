// Builds the command line tool into one file, with its packages, so that it runs wherever Node.js does.
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const outfile = path.join(import.meta.dirname, 'dist/gcs.mjs');
await build({
  entryPoints: [path.join(import.meta.dirname, 'src/gcs.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  // Packages in CommonJS call `require` for modules of Node.js. Others import `createRequire` by this name themselves.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as toCreateRequire } from 'node:module';\nconst require = toCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync(outfile, 0o755);
