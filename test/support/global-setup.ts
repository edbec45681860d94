import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startStack, type Stack } from '../../stack/index.js';
import { startApi, startWorker, type ProductProcess } from './processes.js';
import type { TestRun } from './run.js';

declare global {
  var testRunResources: { stack: Stack; processes: ProductProcess[]; folder: string } | undefined;
}

/** Starts the real stack once for the run, in a folder of its own, with one API process and one worker. */
export default async function globalSetup(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-test-'));
  const logs = path.join(folder, 'logs');
  mkdirSync(logs);
  const stack = await startStack({ dataDir: path.join(folder, 'stack'), log: (line) => console.log(line) });
  const run = randomBytes(4).toString('hex');
  const env = {
    ...stack.environment,
    MONGODB_URI: databaseOf(stack.environment.MONGODB_URI ?? '', `test_${run}`),
    TEMPORAL_TASK_QUEUE: `test-${run}`,
    DATA_DIR: path.join(folder, 'data'),
    LOG_LEVEL: 'info',
    HOST: '127.0.0.1',
    PORT: '0',
    ALLOW_PRIVATE_TARGETS: 'true',
    SEED: 'false',
  };
  globalThis.testRunResources = { stack, processes: [], folder };
  const [api, worker] = await Promise.all([
    startApi(env, path.join(logs, 'api.log')),
    startWorker(env, path.join(logs, 'worker.log')),
  ]);
  globalThis.testRunResources.processes.push(api, worker);
  const handedOver: TestRun = { url: api.url, env, logs, temporalCli: stack.temporalCli ?? null };
  process.env.TEST_RUN = JSON.stringify(handedOver);
}

/** Each run has a database of its own, so that runs beside each other on one server do not meet. */
function databaseOf(uri: string, name: string): string {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.toString();
}
