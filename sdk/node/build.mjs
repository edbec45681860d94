// Builds the package twice: as ES modules, and as CommonJS for programs and test runners that cannot load those.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.json'], { stdio: 'inherit' });
await build({
  entryPoints: ['src/index.ts'],
  outfile: 'dist/cjs/index.js',
  bundle: true,
  format: 'cjs',
  target: 'es2023',
  logLevel: 'warning',
});
mkdirSync('dist/cjs', { recursive: true });
// The declarations mean the same in both formats; the nearest package.json tells the format.
for (const file of readdirSync('dist/esm'))
  if (file.endsWith('.d.ts')) copyFileSync(`dist/esm/${file}`, `dist/cjs/${file}`);
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
