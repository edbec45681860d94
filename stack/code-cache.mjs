// Writes the code cache of a bundle. The process starts without servers, so that the cache contains all functions of a start.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadBundle } from '../dist/src/bundled/load-bundle.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'code-cache-'));
process.env = {
  HOST: '127.0.0.1',
  PORT: '0',
  DOWNSTREAM_PORT: '0',
  DATA_DIR: folder,
  LOG_LEVEL: 'silent',
  // Nothing listens on this port.
  MONGODB_URI: 'mongodb://127.0.0.1:1/none',
  NEO4J_URI: 'bolt://127.0.0.1:1',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
};
const { exports, script, cacheFile } = loadBundle(process.argv[2]);
process.on('exit', () => {
  writeFileSync(cacheFile, script.createCachedData());
  rmSync(folder, { recursive: true });
});
setTimeout(() => process.exit(), 3000);
await exports.main();
