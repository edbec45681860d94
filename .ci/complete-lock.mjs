// node .ci/complete-lock.mjs package-lock.json: adds the optional packages of other platforms, which npm leaves out of the
// lock when its registry does not hold them, and without which `npm ci` refuses the lock elsewhere.
import { readFileSync, writeFileSync } from 'node:fs';
const file = process.argv[2];
const lock = JSON.parse(readFileSync(file, 'utf8'));
const { packages } = lock;
const oses = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openbsd', 'netbsd', 'sunos', 'aix', 'openharmony'];
const cpus = ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'wasm32', 'mips64el'];
let added = 0;
function find(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const key = at ? `${at}/node_modules/${name}` : `node_modules/${name}`;
    if (packages[key]) return key;
    if (!at || !at.includes('node_modules')) return packages[`node_modules/${name}`] ? `node_modules/${name}` : undefined;
    if (at.lastIndexOf('/node_modules/') < 0) at = '';
    if (at === '') return packages[`node_modules/${name}`] ? `node_modules/${name}` : undefined;
  }
}
for (const [key, entry] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (find(key, name)) continue;
    if (!/^\d+\.\d+\.\d+/.test(version)) { console.log('range, left out:', key, name, version); continue; }
    const words = name.split('/').pop().split('-');
    const os = oses.filter((o) => words.includes(o));
    const cpu = cpus.filter((c) => words.includes(c));
    const libc = words.includes('musl') || words.includes('musleabihf') ? ['musl'] : os[0] === 'linux' && words.some((w) => /^gnu/.test(w)) ? ['glibc'] : undefined;
    packages[`node_modules/${name}`] = { version, ...(cpu.length && { cpu }), ...(entry.dev && { dev: true }), ...(libc && { libc }), optional: true, ...(os.length && { os }), ...(entry.engines && { engines: entry.engines }) };
    added += 1;
  }
}
const sorted = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
lock.packages = sorted;
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} added`);
