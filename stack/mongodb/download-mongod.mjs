// Runs in a separate process, because the downloader prints its progress on stdout, which the caller needs.
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { MongoBinary } from 'mongodb-memory-server-core';

const [version, folder] = process.argv.slice(2);
const binary = await MongoBinary.getPath({ version, downloadDir: path.join(folder, 'download') });
await copyFile(binary, path.join(folder, 'mongod'));
