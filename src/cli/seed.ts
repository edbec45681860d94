import { collections } from '../collections.js';
import { loadConfig, publicUrlOf } from '../config.js';
import { createDeps } from '../deps.js';
import { addressesOf, seed } from '../domain/workspace/seed.js';
import { buildUniqueIndexes } from '../stores/collections.js';

/**
 * `seed`: creates the workspace of a first start and prints it as JSON. Use it for processes without a shared disk,
 * each of which would otherwise create its own workspace. Run it once and keep the output: a second run with an empty
 * `DATA_DIR` creates another organization.
 */
const config = loadConfig({ ...process.env, SEED: 'true', LOG_LEVEL: 'silent' });
const deps = createDeps(config, 'api');
try {
  await deps.mongo.withoutTimeLimit(buildUniqueIndexes(collections));
  const workspace = await seed(deps, addressesOf(config, publicUrlOf(config)));
  process.stdout.write(`${JSON.stringify(workspace, null, 2)}\n`);
} finally {
  await deps.close();
}
