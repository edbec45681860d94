import { loadConfig } from '../config.js';
import { createDeps } from '../deps.js';
import { addressesOf, seed } from '../seed.js';
import { prepareMongo } from '../stores/mongo.js';

/**
 * `seed`: the workspace of a first start as JSON, for processes that share no disk, where each would make its own. Run it
 * once and keep what it shows: a second run from an empty `DATA_DIR` makes another organization.
 */
const config = loadConfig({ ...process.env, SEED: 'true', LOG_LEVEL: 'silent' });
const deps = createDeps(config, 'api');
try {
  await prepareMongo(deps.mongo);
  const workspace = await seed(deps, addressesOf(config, config.baseUrl ?? `http://localhost:${config.port}`));
  process.stdout.write(`${JSON.stringify(workspace, null, 2)}\n`);
} finally {
  await deps.close();
}
