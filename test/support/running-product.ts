import { afterAll, beforeAll } from '@jest/globals';
import type { Workspace } from './fixture.js';
import { startHttpSink, type HttpSink, type SinkRequest } from './http-sink.js';
import { ownProduct, type OwnProduct } from './own-product.js';
import type { Api, ProductProcess } from './processes.js';

interface Processes {
  api: Api;
  worker: ProductProcess;
}

/** One API and one worker for this file (those that run now), and the server that their actions call. */
export interface RunningProduct extends Processes {
  sink: HttpSink;
  /** The workspace as seen through the current API. */
  through(workspace: Workspace): Workspace;
  /** The requests of the actions of a workspace. Their paths begin with its project. */
  requestsOf(workspace: Workspace): SinkRequest[];
  /** Ends processes with kill -9. */
  kill(...parts: (keyof Processes)[]): Promise<void>;
  /** Starts replacements for killed processes. */
  start(...parts: (keyof Processes)[]): Promise<void>;
}

/** `overrides` are read at each start, as those of `ownProduct`. */
export function useRunningProduct(overrides: Record<string, string> = {}): RunningProduct {
  const product: OwnProduct = ownProduct(overrides);
  const running = {
    through: (workspace) => product.through(running.api, workspace),
    requestsOf: ({ projectID }) => running.sink.seen(`/${projectID}`),
    async kill(...parts) {
      await Promise.all(parts.map((part) => running[part].end('SIGKILL')));
    },
    async start(...parts) {
      await Promise.all(parts.map(async (part) => Object.assign(running, { [part]: await product[part]() })));
    },
  } as RunningProduct;
  beforeAll(async () => {
    const [sink] = await Promise.all([startHttpSink(), running.start('api', 'worker')]);
    running.sink = sink;
  });
  afterAll(() => running.sink.close());
  return running;
}
