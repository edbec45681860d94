import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testRun } from './run.js';

/** The `temporal` command line as an operator uses it; undefined if the stack found none. */
export function temporalCli(): ((...args: string[]) => Promise<string>) | undefined {
  const { temporalCli: binary, env } = testRun();
  if (binary === null) return undefined;
  return async (...args) => {
    const server = ['--address', env.TEMPORAL_ADDRESS ?? '', '--namespace', env.TEMPORAL_NAMESPACE ?? 'default'];
    const { stdout } = await promisify(execFile)(binary, [...args, ...server], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
    });
    return stdout;
  };
}
