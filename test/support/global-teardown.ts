import { rmSync } from 'node:fs';
import process from 'node:process';
import { loadConfig } from '../../src/config.js';
import { createDeps } from '../../src/deps.js';
import * as workflows from '../../workflows/index.js';
import { saveHistories } from './histories.js';
import { testRun } from './run.js';

/**
 * Ends everything that the setup started. With KEEP_TEST_DATA, keeps the folder. With SAVE_HISTORIES, saves the named histories
 * before, or all of them (docs/guides/operations.md).
 */
export default async function globalTeardown(): Promise<void> {
  const resources = globalThis.testRunResources;
  if (!resources) return;
  if (process.env.SAVE_HISTORIES !== undefined) await saveHistoriesOfRun();
  await Promise.all(resources.processes.map((started) => started.end()));
  await resources.stack.stop();
  if (process.env.KEEP_TEST_DATA === undefined) rmSync(resources.folder, { recursive: true, force: true });
  else console.log(`test data kept in ${resources.folder}`);
}

async function saveHistoriesOfRun(): Promise<void> {
  const deps = createDeps(loadConfig({ ...testRun().env, LOG_LEVEL: 'silent' }), 'test');
  const named = (process.env.SAVE_HISTORIES ?? '').split(',').filter((name) => name !== '' && name !== '1');
  await saveHistories(
    deps.temporal.client,
    deps.auth.box,
    Object.keys(workflows),
    named.length > 0 ? named : undefined,
  ).finally(() => deps.close());
}
