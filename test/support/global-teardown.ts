import { rmSync } from 'node:fs';
import process from 'node:process';

/** Ends everything that the setup started. With KEEP_TEST_DATA, keeps the folder. */
export default async function globalTeardown(): Promise<void> {
  const resources = globalThis.testRunResources;
  if (!resources) return;
  await Promise.all(resources.processes.map((started) => started.end()));
  await resources.stack.stop();
  if (process.env.KEEP_TEST_DATA === undefined) rmSync(resources.folder, { recursive: true, force: true });
  else console.log(`test data kept in ${resources.folder}`);
}
