import { setTimeout as delay } from 'node:timers/promises';
import type { OwnProduct } from '../../support/own-product.js';
import type { Api, ProductProcess } from '../../support/processes.js';

export interface Lasting {
  name: string;
  pid: number;
  metricsUrl: string;
}

export interface Fleet {
  apiUrls(): string[];
  /** The API process and the worker that are never killed. Their memory is measured. */
  lasting: readonly Lasting[];
  kills: { at: number; what: 'worker' | 'api' }[];
  /** Kills a worker and an API process in turn at each beat and starts another in its place. */
  killInTurn(beats: number, everyMs: number): Promise<void>;
}

/** Two API processes and two workers. One of each is never killed; the other is killed repeatedly. */
export async function startFleet(product: OwnProduct): Promise<Fleet> {
  const [lastingApi, firstApi, lastingWorker, firstWorker] = await Promise.all([
    product.api(),
    product.api(),
    product.worker(),
    product.worker(),
  ]);
  const doomed: { api: Api; worker: ProductProcess } = { api: firstApi, worker: firstWorker };
  const kills: Fleet['kills'] = [];
  const replace = {
    api: async () => void (doomed.api = await product.api()),
    worker: async () => void (doomed.worker = await product.worker()),
  };
  return {
    apiUrls: () => [lastingApi.url, doomed.api.url],
    lasting: [
      { name: 'API', pid: lastingApi.child.pid ?? 0, metricsUrl: lastingApi.url },
      {
        name: 'worker',
        pid: lastingWorker.child.pid ?? 0,
        metricsUrl: `http://127.0.0.1:${Number(lastingWorker.up.metricsPort)}`,
      },
    ],
    kills,
    async killInTurn(beats, everyMs) {
      const begun = Date.now();
      for (let beat = 1; beat <= beats; beat += 1) {
        await delay(Math.max(0, begun + beat * everyMs - Date.now()));
        const what = beat % 2 === 1 ? 'worker' : 'api';
        await doomed[what].end('SIGKILL');
        kills.push({ at: Date.now(), what });
        await replace[what]();
      }
      await delay(everyMs);
    },
  };
}
