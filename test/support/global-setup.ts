import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startStack, type Stack } from '../../stack/index.js';
import { startApi, startWorker, type ProductProcess } from './processes.js';
import { databaseOf, type TestRun } from './run.js';

declare global {
  var testRunResources: { stack: Stack; processes: ProductProcess[]; folder: string } | undefined;
}

/** Starts the real stack once for the run in its own folder, with one API process and one worker. */
export default async function globalSetup(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-test-'));
  const logs = path.join(folder, 'logs');
  const temporary = path.join(folder, 'tmp');
  for (const each of [logs, temporary]) mkdirSync(each);
  // Files that tests leave there are deleted with the run's folder. Jest's workers inherit the variable.
  process.env.TMPDIR = temporary;
  const stack = await startStack({
    dataDir: path.join(folder, 'stack'),
    log: (line) => console.log(line),
    // The server is new, so no other partition has tasks. Polls of the others cost half of the time of an idle server.
    dynamicConfig: { 'matching.numTaskqueueReadPartitions': 1 },
  });
  const run = randomBytes(4).toString('hex');
  const env = {
    ...stack.environment,
    // Each run has its own database, so that concurrent runs on one server are separate.
    MONGODB_URI: databaseOf(stack.environment.MONGODB_URI ?? '', `test_${run}`),
    TEMPORAL_TASK_QUEUE: `test-${run}`,
    DATA_DIR: path.join(folder, 'data'),
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: '0',
    ALLOW_PRIVATE_TARGETS: 'true',
    SEED: 'false',
    // All tests sign in from one address.
    SIGN_IN_ADDRESS_MAX: '0',
  };
  globalThis.testRunResources = { stack, processes: [], folder };
  const [api, worker] = await Promise.all([
    startApi(env, path.join(logs, 'api.log')),
    startWorker(env, path.join(logs, 'worker.log')),
  ]);
  globalThis.testRunResources.processes.push(api, worker);
  // Creates the first signing key, so that no product with a SECRETS_KEY of its own creates it.
  const keys = await fetch(`${api.url}/.well-known/jwks.json`);
  if (!keys.ok) throw new Error(`the API answered ${keys.status} when asked for its signing keys, see ${logs}/api.log`);
  const handedOver: TestRun = { url: api.url, env, logs, temporalCli: stack.temporalCli ?? null };
  process.env.TEST_RUN = JSON.stringify(handedOver);
}
