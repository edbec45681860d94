import { newId } from '../../src/base/ids.js';

/** The settings that the global setup passes to the tests of a run in the environment. */
export interface TestRun {
  /** The shared API process. */
  url: string;
  /** The environment of the shared processes: the three servers, the task queue, the data folder. */
  env: Record<string, string>;
  logs: string;
  temporalCli: string | null;
}

export function testRun(): TestRun {
  const text = process.env.TEST_RUN;
  if (text === undefined) throw new Error('the global setup has not run');
  return JSON.parse(text) as TestRun;
}

export function databaseOf(uri: string, name: string): string {
  const url = new URL(uri);
  url.pathname = `/${name}`;
  return url.toString();
}

/**
 * The address of a database for one product, whose runs are on a Temporal server of its own. The shared processes would end
 * runs in their database that have lasted for five minutes and that their Temporal server does not have.
 */
export function ownDatabase(): { MONGODB_URI: string } {
  return { MONGODB_URI: databaseOf(testRun().env.MONGODB_URI ?? '', `own_${newId()}`) };
}
