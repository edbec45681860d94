// node .ci/complete-lock.mjs package-lock.json: adds the optional packages of other platforms, which npm leaves out of the
// lock when its registry does not hold them, and without which `npm ci` refuses the lock elsewhere.
import { readFileSync, writeFileSync } from 'node:fs';

const file = process.argv[2];
const lock = JSON.parse(readFileSync(file, 'utf8'));
const { packages } = lock;
const oses = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openbsd', 'netbsd', 'sunos', 'aix', 'openharmony'];
const cpus = ['x64', 'arm64', 'arm', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'wasm32', 'mips64el'];

/** As Node looks for it: below the package itself, then below each folder above. */
function isLocked(name, from) {
  for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (`${at}/node_modules/${name}` in packages) return true;
  }
  return `node_modules/${name}` in packages;
}

/** The platform is in the package's name. */
function entryFor(name, version, { dev, engines }) {
  const words = name.split('/').pop().split('-');
  const os = oses.filter((each) => words.includes(each));
  const cpu = cpus.filter((each) => words.includes(each));
  const isGlibc = os[0] === 'linux' && words.some((word) => word.startsWith('gnu'));
  const libc = words.some((word) => word.startsWith('musl')) ? ['musl'] : isGlibc ? ['glibc'] : undefined;
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
    ...(engines && { engines }),
  };
}

let added = 0;
for (const [key, entry] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isLocked(name, key)) continue;
    if (!/^\d+\.\d+\.\d+/.test(version)) {
      console.log('range, left out:', key, name, version);
      continue;
    }
    packages[`node_modules/${name}`] = entryFor(name, version, entry);
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} added`);
