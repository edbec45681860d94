import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createApp } from '../app.js';
import { loadConfig } from '../config.js';
import { createDeps } from '../deps.js';
import { packageRoot } from '../base/packages.js';

/**
 * Part of the build: writes the OpenAPI document that the app serves. The types of the clients are generated from it.
 * The configured stores do not exist, because a build must not touch a developer's data. Stores connect on first use.
 */
const config = loadConfig({
  LOG_LEVEL: 'silent',
  SECRETS_KEY: randomBytes(32).toString('base64'),
  MONGODB_URI: 'mongodb://build.invalid',
  NEO4J_URI: 'bolt://build.invalid',
});
const deps = createDeps(config, 'api');
const app = createApp(deps, { baseUrl: () => 'http://localhost:8080', condition: () => 'preparing', version: 'build' });
const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`);
if (!response.ok) throw new Error(`the OpenAPI document could not be created: status ${response.status}`);
await writeFile(path.join(packageRoot, 'dist/openapi.json'), await response.text());
server.close();
server.closeAllConnections();
await deps.close();
