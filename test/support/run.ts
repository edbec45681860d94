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
