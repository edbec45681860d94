import { afterAll, beforeAll } from '@jest/globals';
import type { Workspace } from './fixture.js';
import { startHttpSink, type HttpSink, type SinkRequest } from './http-sink.js';
import { ownProduct, type OwnProduct } from './own-product.js';
import type { Api, ProductProcess } from './processes.js';

interface Processes {
  api: Api;
  worker: ProductProcess;
}

/** One API and one worker of a file's own, those that run at present, and the outside world of their actions. */
export interface RunningProduct extends Processes {
  sink: HttpSink;
  /** The workspace as seen through the present API. */
  through(workspace: Workspace): Workspace;
  /** The requests of a workspace's actions, whose paths begin with its project. */
  requestsOf(workspace: Workspace): SinkRequest[];
  /** kill -9. */
  kill(...parts: (keyof Processes)[]): Promise<void>;
  /** Others in the place of those that were killed. */
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
