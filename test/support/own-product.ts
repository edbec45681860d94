import { afterAll } from '@jest/globals';
import path from 'node:path';
import { newId } from '../../src/base/ids.js';
import { apiClient } from './client.js';
import type { Workspace } from './fixture.js';
import { startApi, startWorker, type Api, type ProductProcess } from './processes.js';
import { testRun } from './run.js';

export interface OwnProduct {
  env: Record<string, string>;
  api(): Promise<Api>;
  worker(): Promise<ProductProcess>;
  /** The workspace as seen through one of these API processes. */
  through(api: Api, workspace: Workspace): Workspace;
}

/**
 * API and worker processes that a test may kill. They use their own task queue and end after the file. `overrides` are read
 * at each start, so that a test can add the addresses of its own servers later.
 */
export function ownProduct(overrides: Record<string, string> = {}): OwnProduct {
  const name = `own-${newId()}`;
  const env = () => ({ ...testRun().env, TEMPORAL_TASK_QUEUE: name, ...overrides });
  const started: ProductProcess[] = [];
  const keep = <T extends ProductProcess>(running: T): T => {
    started.push(running);
    return running;
  };
  afterAll(async () => {
    await Promise.all(
      started
        .filter(({ child }) => child.exitCode === null && child.signalCode === null)
        .map((running) => running.end('SIGKILL')),
    );
  });
  const log = (part: string) => path.join(testRun().logs, `${name}-${part}.log`);
  return {
    get env() {
      return env();
    },
    api: async () => keep(await startApi(env(), log('api'))),
    worker: async () => keep(await startWorker(env(), log('worker'))),
    through: (api, workspace) => ({ ...workspace, api: apiClient(api.url, { 'x-api-key': workspace.apiKey }) }),
  };
}
