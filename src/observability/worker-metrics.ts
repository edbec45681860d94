import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';
import type { Metrics } from './metrics.js';

const sdkTimeoutMs = 2000;

/**
 * Serves `GET /metrics` (the metrics of the worker and of the Temporal SDK) and `GET /healthz`. Returns undefined
 * without `WORKER_METRICS_PORT`.
 */
export async function startWorkerMetrics(
  { workerMetricsPort, host }: { workerMetricsPort: number | undefined; host: string },
  metrics: Metrics,
) {
  if (workerMetricsPort === undefined) return undefined;
  metrics.collectProcess();
  const sdkAddress = `127.0.0.1:${await freePort()}`;
  const server = createServer((req, res) => {
    const path = req.method === 'GET' ? req.url?.split('?')[0] : undefined;
    if (path === '/healthz')
      return void res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"ok"}');
    if (path !== '/metrics') return void res.writeHead(404).end();
    Promise.all([metrics.registry.metrics(), sdkText(sdkAddress)]).then(
      (texts) => res.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(texts.join('\n')),
      () => res.writeHead(500).end(),
    );
  });
  server.listen(workerMetricsPort, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** The options for `Runtime.install`. The SDK serves its own metrics on the loopback address. */
    ofSdk: {
      prometheus: {
        bindAddress: sdkAddress,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    } satisfies TelemetryOptions['metrics'],
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the metrics of the SDK, or nothing if it does not respond. */
async function sdkText(address: string): Promise<string> {
  try {
    const answer = await fetch(`http://${address}/metrics`, { signal: AbortSignal.timeout(sdkTimeoutMs) });
    return answer.ok ? await answer.text() : '';
  } catch {
    return '';
  }
}

/** Finds a free port. The SDK cannot report which port it chose, so it gets this one. */
async function freePort(): Promise<number> {
  const probe = createSocketServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
