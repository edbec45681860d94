// Packs the clients and `gcs` to `dist/clients`, which the API serves for download: npm tarballs and a Python wheel.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zipSync } from 'fflate';

const target = path.resolve('dist/clients');
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

packNpm('./sdk/node');
// People install it from this address, so its name has no version.
renameSync(path.join(target, packNpm('./sdk/cli')), path.join(target, 'gcs.tgz'));
packWheel();

/** Returns the name of the tarball. */
function packNpm(folder) {
  const args = ['pack', folder, '--silent', '--pack-destination', target];
  return execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** Writes a wheel: a zip archive of the package and its metadata (Python packaging: binary distribution format). */
function packWheel() {
  const folder = 'sdk/python';
  const project = readFileSync(`${folder}/pyproject.toml`, 'utf8');
  const field = (name) => new RegExp(`^${name} = \\[?"(.+)"\\]?$`, 'm').exec(project)?.[1] ?? '';
  const [name, version] = ['governed_context_service', field('version')];
  const info = `${name}-${version}.dist-info`;
  const sources = readdirSync(`${folder}/src/${name}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'))
    .map((entry) => path.join(entry.parentPath, entry.name));
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${field('name')}`,
    `Version: ${version}`,
    `Summary: ${field('description')}`,
    `Requires-Python: ${field('requires-python')}`,
    'Provides-Extra: async',
    `Requires-Dist: ${field('async')}; extra == "async"`,
  ];
  const readme = readFileSync(`${folder}/README.md`, 'utf8');
  const files = {
    ...Object.fromEntries(sources.map((file) => [path.relative(`${folder}/src`, file), readFileSync(file)])),
    [`${info}/METADATA`]: Buffer.from(`${metadata.join('\n')}\nDescription-Content-Type: text/markdown\n\n${readme}`),
    [`${info}/WHEEL`]: Buffer.from(
      'Wheel-Version: 1.0\nGenerator: sdk/pack.mjs\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ),
  };
  const record = Object.entries(files).map(
    ([file, bytes]) => `${file},sha256=${createHash('sha256').update(bytes).digest('base64url')},${bytes.length}`,
  );
  files[`${info}/RECORD`] = Buffer.from([...record, `${info}/RECORD,,`, ''].join('\n'));
  writeFileSync(
    path.join(target, `${name}-${version}-py3-none-any.whl`),
    zipSync(files, { mtime: new Date('2026-01-01') }),
  );
}
