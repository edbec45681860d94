import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from './package-root.js';

/** The folder to which the build writes the packages of both clients (sdk/pack.mjs). */
export const clientsFolder = path.join(packageRoot, 'dist/clients');

const files = existsSync(clientsFolder) ? readdirSync(clientsFolder) : [];

/** The file names of the packages that `/clients/` serves. */
export const clientPackages = {
  node: files.find((file) => file.endsWith('.tgz')),
  python: files.find((file) => file.endsWith('.whl')),
};
