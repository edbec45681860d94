import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that contains package.json, both for the sources and for `dist`. */
export const packageRoot: string = (() => {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return folder;
})();

/** The folder to which the build writes the packages of the clients and of `gcs` (sdk/pack.mjs). */
export const clientsFolder = path.join(packageRoot, 'dist/clients');

const files = existsSync(clientsFolder) ? readdirSync(clientsFolder) : [];

/** The file names of the packages that `/clients/` serves. */
export const clientPackages = {
  node: files.find((file) => file.startsWith('governed-context-service-')),
  python: files.find((file) => file.endsWith('.whl')),
};
