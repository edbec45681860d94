import { loadConfig } from '../../src/config.js';
import { createDeps } from '../../src/deps.js';
import { saveHistory } from './histories.js';

/**
 * Saves the history of a run for `test/replay`: `node dist/test/support/save-history.js <workflow id> <name> [run id]`,
 * with the environment of the product (TEMPORAL_ADDRESS, DATA_DIR).
 */
async function main([workflowId, name, runId]: string[]): Promise<void> {
  if (workflowId === undefined || name === undefined)
    throw new Error('usage: save-history <workflow id> <name> [run id]');
  const deps = createDeps(loadConfig(process.env), 'test');
  try {
    console.log(
      saveHistory(name, await deps.temporal.client.workflow.getHandle(workflowId, runId).fetchHistory(), deps.auth.box),
    );
  } finally {
    await deps.close();
  }
}

await main(process.argv.slice(2));
