import { createApp } from '../../src/app.js';
import { loadConfig } from '../../src/config.js';
import { createDeps } from '../../src/deps.js';
import { createExpressServer } from '../../src/http/express-server.js';
import { platformRoutes } from '../../src/surfaces/platform/resources.js';
import { announce } from '../../test/support/ports.js';

/**
 * The baseline of platform writes: the platform's routes without their operations, in the same app with the same log.
 */
for (const route of platformRoutes) delete route.operation;
const deps = createDeps(loadConfig(process.env), 'api');
const app = createApp(deps, { baseUrl: () => 'http://localhost', condition: () => 'serving', version: 'bare' });
await announce(createExpressServer(app));
